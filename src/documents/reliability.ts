// docs/reliability.md: what an operator can rely on, and the table that `npm run chaos -- --write` leaves.
import { GENERATED_NOTE, table } from './pages.ts'

/** `chaos/results.json` */
export interface ChaosResults {
  readonly kinds: readonly {
    readonly kind: string
    /** Node, platform, cores and day. */
    readonly measured: string
    readonly rows: readonly ChaosRow[]
  }[]
}
interface ChaosRow {
  readonly fault: string
  readonly command: string
  readonly promise: string
  readonly acknowledged: number
  readonly lost: number
  readonly doubled: number
  readonly unknown: number
  readonly recoverySeconds: number | null
  readonly control: string
  readonly notCovered: string
  readonly failures: readonly string[]
}

/** As `npm run chaos` prints it. */
export const reliabilityTable = (rows: readonly ChaosRow[]): string =>
  table(
    [
      'fault',
      'command',
      'promise',
      'acknowledged / lost / doubled',
      'unknown',
      'recovered after',
      'control',
      'not covered',
    ],
    rows.map((row) => [
      row.failures.length === 0 ? row.fault : `${row.fault} (**failed**: ${row.failures.join('; ')})`,
      row.command,
      row.promise,
      `${row.acknowledged} / ${row.lost} / ${row.doubled}`,
      String(row.unknown),
      row.recoverySeconds === null ? '-' : `${row.recoverySeconds.toFixed(1)} s`,
      row.control,
      row.notCovered,
    ]),
  )

export const reliabilityPage = ({ kinds }: ChaosResults): string => `# Reliability

${GENERATED_NOTE}

\`npm run chaos\` puts the gateway under load, breaks what it stands on, and looks for everything that was acknowledged.

${reliabilityTable(kinds.flatMap(({ rows }) => rows))}
`
