// `<passed> <failed>` of a vitest JSON report, and on stderr a line for each that failed. A skipped or unfinished test, and a file
// that did not load, count as failed.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const files = report.testResults
const tests = files.flatMap((file) => file.assertionResults)
const passed = tests.filter((test) => test.status === 'passed').length
const broken = files.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)

const firstLine = (text) => text?.split('\n', 1)[0].slice(0, 300)
const nameOf = (file) => relative(process.cwd(), file.name)

for (const file of broken) console.error(`${nameOf(file)}: not loaded: ${firstLine(file.message)}`)
for (const file of files)
  for (const test of file.assertionResults)
    if (test.status !== 'passed')
      console.error(
        `${nameOf(file)}: ${test.fullName}: ${firstLine(test.failureMessages?.[0]) ?? test.status}`,
      )
// A suite without tests proves nothing.
const nothing = tests.length === 0 ? 1 : 0
console.log(passed, tests.length - passed + broken.length + nothing)
