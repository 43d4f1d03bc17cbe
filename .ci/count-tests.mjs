// `<passed> <failed>` of a vitest JSON report. A skipped or unfinished test, and a file that did not load, count as failed.
import { readFileSync } from 'node:fs'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const files = report.testResults
const tests = files.flatMap((file) => file.assertionResults)
const passed = tests.filter((test) => test.status === 'passed').length
const broken = files.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)

for (const file of broken) console.error(`not loaded: ${file.name}`)
for (const test of tests) if (test.status !== 'passed') console.error(`${test.status}: ${test.fullName}`)
// A suite without tests proves nothing.
const nothing = tests.length === 0 ? 1 : 0
console.log(passed, tests.length - passed + broken.length + nothing)
