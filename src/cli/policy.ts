// `policy`: what one run may call, made from what a run was seen to call.
import type { Command } from 'commander'
import { z } from 'zod'
import { MAX_RULES } from '../../schemas/egress-rule.ts'
import { type SeenRequest, suggestRules } from '../egress/rules/suggest.ts'
import { parseTarget } from '../egress/target.ts'
import { CommandFailure, Exit } from './exit.ts'
import { parseInput, readInput } from './input.ts'
import { formatValue } from './output.ts'
import { readPolicy } from './run/policy.ts'

/** A line for each attempt of a long run. */
const MAX_SUMMARY_BYTES = 64 * 1024 * 1024

/** As much of a summary of `run` as rules are made of. */
const Summary = z.object({
  requests: z.array(
    z.object({ method: z.string(), host: z.string(), path: z.string(), times: z.int() }),
    'was not made by a dry run: give `run --dry-run --summary FILE`',
  ),
  requests_others: z.object({ times: z.int() }).optional(),
  passed: z.array(z.object({ host: z.string(), way: z.enum(['tunnel', 'inspect']) })).default([]),
})

/** Of a path in a comment: a program chooses how long it is. */
const MOST_CHARACTERS = 200

/** `policy suggest|check`. */
export function addRunPolicyCommands(program: Command): void {
  const policy = program.command('policy').description('what a run may call, as rules that people can read')

  policy
    .command('suggest <summary...>')
    .description('print the narrowest policy that allows what dry runs called')
    .addHelpText(
      'after',
      `
Reads what \`run --dry-run --summary FILE\` wrote. Numbers, UUIDs and ids in a path, and names of which there are many in one place, become a star.
Where a host has more paths than a policy takes, crowded branches that are only read are cut. Before each rule that allows more than was seen a comment says so.
Read the policy before you use it: it allows what the program did, whether or not that was right.

Example:
  agent-gateway run --dry-run --summary seen.json -- ./nightly.sh
  agent-gateway policy suggest seen.json > nightly.policy
  agent-gateway run --policy nightly.policy -- ./nightly.sh`,
    )
    .action(async (files: string[]) => {
      const summaries = await Promise.all(files.map(readSummary))
      const requests = summaries.flatMap((summary) => summary.requests)
      const tunnels = summaries.flatMap(({ passed }) => passed.map(({ host }) => host))
      if (requests.length + tunnels.length === 0)
        throw new CommandFailure(
          Exit.failed,
          'Nothing was called in these runs: there is nothing to allow. Let the program do its work under `agent-gateway run --dry-run --summary FILE` first.',
        )
      const times = requests.reduce((sum, one) => sum + one.times, 0)
      const hosts = new Set(requests.map(({ host }) => host)).size
      const lines = [
        `# From ${count(times, 'request')} to ${count(hosts, 'host')}. The first rule that fits decides, and what none fits is refused. \`ask\` instead of \`allow\` asks a person first.`,
        ...describeRules(requests),
        ...[...new Set(tunnels)].toSorted().map((host) => `tunnel ${host}`),
      ]
      process.stdout.write(`${lines.join('\n')}\n`)
    })

  policy
    .command('check <file> <method> <url>')
    .description('say what a policy says of one request, and which rule does')
    .action(async (file: string, method: string, url: string) => {
      const read = await readPolicy(file)
      // Whether its credential takes escaped slashes is the gateway's to know.
      const ports = [Number(URL.parse(url)?.port || 443)]
      const target = parseTarget(url, { ports, allowEncodedSlash: true })
      if (!target.ok) throw new CommandFailure(Exit.usage, target.detail)
      const { decision, rule } = read.judge({ ...target, method: method.toUpperCase() })
      const verdict = `${decision}: ${rule ?? 'no rule fits'}`
      // Whether the run has a credential for the host is the gateway's to know, too.
      if (read.tunnels(target)) {
        const isRuled = read.rulesFor(target).length > 0
        const exception = isRuled ? `, unless the run has a credential for it; then ${verdict}` : ''
        process.stdout.write(`tunnel: connections to ${target.host} pass unopened${exception}\n`)
        return
      }
      process.stdout.write(`${verdict}\n`)
      if (decision === 'deny') process.exitCode = Exit.failed
    })
}

/** Lines of a policy: before what allows more than was seen stands a comment that says so. */
function describeRules(requests: readonly SeenRequest[]): readonly string[] {
  const { rules, leftOut } = suggestRules(requests)
  const crowded = [...Map.groupBy(rules, ({ text }) => text.split(/[ /]/)[2] ?? '')].filter(
    ([, { length }]) => length > MAX_RULES,
  )
  return [
    ...crowded.map(
      ([host, { length }]) =>
        `# ${length} rules for ${host}, and a capability takes ${MAX_RULES}: join some with a star, or leave some out.`,
    ),
    ...leftOut.map(
      ({ method, host, path }) =>
        `# Left out, because no rule is as long: ${method} ${shortened(host + path)}`,
    ),
    ...rules.flatMap(({ text, widenedFrom }) =>
      widenedFrom === undefined
        ? [text]
        : [`# Wider than what was seen: ${describePaths(widenedFrom)}`, text],
    ),
  ]
}

function describePaths(paths: ReadonlySet<string>): string {
  const [first = ''] = paths
  return `${count(paths.size, 'path')}, such as ${shortened(first)}`
}

const shortened = (text: string) =>
  formatValue(text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text)

async function readSummary(file: string): Promise<z.infer<typeof Summary>> {
  const name = `The summary ${file}`
  const read = Summary.safeParse(
    parseInput(name, (await readInput('summary', file, MAX_SUMMARY_BYTES)).toString('utf8')),
  )
  if (read.success) {
    const { requests_others: others } = read.data
    if (others === undefined) return read.data
    throw new CommandFailure(
      Exit.failed,
      `${name} does not name ${count(others.times, 'request')} of the run, which called too many different paths: rules made of the others would hide what they were. Let the program do less in one run, and give the summaries of several.`,
    )
  }
  const [issue] = read.error.issues
  throw new CommandFailure(
    Exit.usage,
    `${name} is none of a dry run: /${issue?.path.join('/') ?? ''} ${issue?.message ?? ''}.`,
  )
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`
