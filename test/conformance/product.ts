// Runs the official MCP suite against the gateway as a user gets it: the command line, no fixtures, default settings and names. What
// fails is exactly what not-offered.ts says, with its reason; an entry that passes is as wrong as a failure that is not listed.
import { join } from 'node:path'
import { NOT_OFFERED } from './not-offered.ts'
import { conform, requiredScenarios, type Revision, REVISIONS, root, type Run, runSuite } from './suite.ts'

await conform([join(root, 'src/cli/index.ts'), 'serve'], {}, async (url, directory, tally) => {
  for (const revision of REVISIONS) {
    const run = await runSuite(revision, url, directory)
    const wrong = [
      ...(await findUnrun(revision, run)),
      ...findUnlisted(revision, run),
      ...findStale(revision, run),
    ]
    tally.passed += run.passed
    tally.failed += wrong.length
    console.log(`${revision}: ${run.passed} checks passed, ${wrong.length} not as listed`)
    if (wrong.length > 0) console.log(`${wrong.join('\n')}\n${run.output.slice(-4000)}`)
  }
})

async function findUnrun(revision: Revision, { failures }: Run): Promise<string[]> {
  const required = await requiredScenarios(revision)
  return required.filter((name) => !failures.has(name)).map((name) => `${name} is required and was not run`)
}

function listedFor(revision: Revision, scenario: string, id: string) {
  return NOT_OFFERED.find(({ checks }) => checks[revision]?.[scenario]?.includes(id))
}

function findUnlisted(revision: Revision, { failures }: Run): string[] {
  return [...failures].flatMap(([scenario, said]) =>
    [...said].flatMap(([id, message]) => {
      const listed = listedFor(revision, scenario, id)
      if (!listed) return `${scenario}: ${id} fails and is not listed: ${message}`
      return listed.says.test(message)
        ? []
        : `${scenario}: ${id} fails for another reason than listed: ${message}`
    }),
  )
}

function findStale(revision: Revision, { failures }: Run): string[] {
  return NOT_OFFERED.flatMap(({ checks }) => Object.entries(checks[revision] ?? {})).flatMap(
    ([scenario, ids]) =>
      ids
        .filter((id) => !failures.get(scenario)?.has(id))
        .map((id) => `${scenario}: ${id} is listed and does not fail: take it out`),
  )
}
