// One kind of fault in a process of its own: `node chaos/kind.ts FILE [PATTERN]`. Each row goes to stdout as it is found, and to the file
// that CHAOS_ROWS names as a line of JSON.
import { appendFileSync } from 'node:fs'
import { type Fault, tryFault } from './fault.ts'

const [kind, pattern = ''] = process.argv.slice(2)
const { faults } = (await import(`./faults/${kind}.ts`)) as { faults: readonly Fault[] }
for (const fault of faults) {
  if (!fault.name.includes(pattern)) continue
  const began = performance.now()
  const row = await tryFault(fault)
  const { acknowledged, lost, doubled, unknown, recoverySeconds, control, failures } = row
  console.log(
    `${failures.length === 0 ? 'ok    ' : 'FAILED'} ${row.fault}: ${acknowledged} acknowledged, ${lost} lost, ${doubled} doubled, ` +
      `${unknown} unknown; recovered in ${recoverySeconds?.toFixed(1) ?? '-'} s; control: ${control} ` +
      `(${((performance.now() - began) / 1000).toFixed(0)} s)`,
  )
  for (const failure of failures) console.log(`       ${failure}`)
  const file = process.env['CHAOS_ROWS']
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`)
}
process.exit(0)
