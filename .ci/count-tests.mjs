// `<passed> <failed>` of a vitest JSON report, and on stderr a line for each that failed. A skipped or unfinished test, and a file
// that did not load, count as failed.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const files = report.testResults
const tests = files.flatMap((file) => file.assertionResults)
const passed = tests.filter((test) => test.status === 'passed').length
const broken = files.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)

/** In one line, without the stack: of a property that failed its seed is on the second. */
const inShort = (text) =>
  text?.split('\n    at ', 1)[0].replaceAll(/\s+/g, ' ').trim().slice(0, 400) || undefined
const nameOf = (file) => relative(process.cwd(), file.name)

for (const file of files) {
  const isBroken = broken.includes(file)
  // The tests of a hook that failed have no word of it.
  if (isBroken || file.message)
    console.error(`${nameOf(file)}: ${isBroken ? 'not loaded' : 'a hook failed'}: ${inShort(file.message)}`)
  for (const test of file.assertionResults)
    if (test.status !== 'passed')
      console.error(
        `${nameOf(file)}: ${inShort(test.fullName)}: ${inShort(test.failureMessages?.[0]) ?? test.status}`,
      )
}
// A suite without tests proves nothing.
const nothing = tests.length === 0 ? 1 : 0
console.log(passed, tests.length - passed + broken.length + nothing)
