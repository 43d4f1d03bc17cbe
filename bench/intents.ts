// Whether words are understood: the job, its sources, limit, query and what is left out of it, against the labels in test/data/intents.tsv.
// A third of the phrases, chosen by their hash, is kept out of tuning: of those only the counts are printed.
// `npm run bench -- intents [--corpus FILE]` with a table of the same columns; `node bench/intents.ts --failures` lists what went wrong.
import { resolve } from 'node:path'
import {
  type IntentRow,
  isArabic,
  isHeldOut,
  isOffered,
  kindOf,
  mistakesIn,
  readIntents,
  understand,
} from '../test/support/intents.ts'
import { printTable } from './support.ts'

const TARGET = { right: 0.95, capability: 0.98 }
const corpus = process.argv[process.argv.indexOf('--corpus') + 1]
const isOwn = !process.argv.includes('--corpus') || corpus === undefined
const rows = readIntents(isOwn ? undefined : resolve(process.env['INIT_CWD'] ?? '.', corpus))
const scored = rows.map((row) => ({ row, mistakes: mistakesIn(row) }))
type Scored = (typeof scored)[number]

const count = (of: readonly Scored[], isRight: (one: Scored) => boolean) => of.filter(isRight).length
const isRight = ({ mistakes }: Scored) => mistakes.length === 0
const isCapability = ({ mistakes }: Scored) => !mistakes.includes('capability')
const share = (part: number, whole: number) => (whole === 0 ? '' : (part / whole).toFixed(3))
const rowOf = (name: string, of: readonly Scored[]) => [
  name,
  of.length,
  share(count(of, isRight), of.length),
  share(count(of, isCapability), of.length),
]
const columns = ['phrases', 'count', 'all right', 'capability']
const pick = (isPicked: (row: IntentRow) => boolean) => scored.filter(({ row }) => isPicked(row))
const heldOut = pick(isHeldOut)

printTable('Intents understood', columns, [
  rowOf('all', scored),
  rowOf(
    'tuning',
    pick((row) => !isHeldOut(row)),
  ),
  rowOf('held out', heldOut),
  rowOf(
    'English',
    pick((row) => !isArabic(row)),
  ),
  rowOf('Arabic', pick(isArabic)),
  rowOf(
    'Arabic, held out',
    pick((row) => isArabic(row) && isHeldOut(row)),
  ),
])
const kinds = [...new Set(rows.map(kindOf))].sort()
printTable(
  'By kind',
  [...columns, 'held out', 'all right'],
  kinds.map((kind) => {
    const held = heldOut.filter(({ row }) => kindOf(row) === kind)
    return [
      ...rowOf(
        kind,
        pick((row) => kindOf(row) === kind),
      ),
      held.length,
      share(count(held, isRight), held.length),
    ]
  }),
)
const offered = scored.filter(
  ({ row, mistakes }) =>
    row.expected === 'refused' &&
    mistakes.includes('capability') &&
    isOffered(understand({ intent: row.phrase })),
)
console.log(`\n${offered.length} jobs that are not done here would be offered at a price`)
if (process.argv.includes('--failures'))
  for (const { row, mistakes } of scored)
    if (mistakes.length > 0 && !(isOwn && isHeldOut(row)))
      console.log(
        `${mistakes.join(', ')}: ${row.phrase}\n  wanted ${told(row)}\n  got    ${told(understand({ intent: row.phrase }))}`,
      )

const isGood = [scored, heldOut].every(
  (of) =>
    count(of, isRight) / of.length >= TARGET.right &&
    count(of, isCapability) / of.length >= TARGET.capability,
)
if (!isGood) console.log(`below the targets: ${TARGET.right} all right, ${TARGET.capability} capability`)
process.exitCode = isGood ? 0 : 1

function told({ expected, sources, limit, query, leftOut }: Omit<IntentRow, 'phrase'>): string {
  return [expected, sources, limit, query, leftOut.join(' ')].join(' | ')
}
