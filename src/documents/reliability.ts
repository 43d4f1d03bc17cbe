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
/** A row of the table. */
export interface ChaosRow {
  readonly fault: string
  readonly command: string
  readonly promise: string
  readonly acknowledged: number
  readonly lost: number
  readonly doubled: number
  readonly unknown: number
  /** Seconds from the end of the fault to an acknowledged call at every replica; null where that did not come. */
  readonly recoverySeconds: number | null
  readonly control: string
  readonly notCovered: string
  /** Why the row has failed; empty where it has not. */
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

/** docs/reliability.md */
export const reliabilityPage = ({ kinds }: ChaosResults): string => `# Reliability

${GENERATED_NOTE}

What the gateway promises while what it stands on fails, what you have to set for it, and what was tried. \`npm run chaos\` puts real processes of it under load, with a
real PostgreSQL, a real EVM node and TLS, breaks something, and looks for everything that was acknowledged.

## The promise

- **What was acknowledged stays.** Whoever was answered has its receipt and its attempt or payment afterwards, and the signature verifies.
- **Nothing is done twice.** A call that is repeated under its idempotency key reaches the upstream once; an authorization moves money once.
- **What nobody can know is said.** A request that left and whose answer was lost is \`outcome_ambiguous\`, a payment \`settlement_unknown\`: charged at most once, and the
  request is never sent again by itself ([deciding](guides/credential-broker.md#decide-an-ambiguous-attempt)).
- **Credits add up.** A balance is deposits less charges, and is never negative. Of what did not leave the gateway nothing is charged.
- **No secret is in clear** in what is stored, logged or answered, also in the middle of a failure.
- **Nobody has to do anything** to the gateway once the fault is over. It has to be started again where its process ended, and PostgreSQL where that ended.

For a caller this means: repeat a call that was not answered, or answered with 5xx, under the same \`Idempotency-Key\`, at any replica. Without a key a repeat is another call.

## What to set

| where | set | or else |
| --- | --- | --- |
| supervisor of the gateway | start it again a second after it ended, without a limit on tries. Exit code 78 means that a person has to mend configuration or files, a full disk among them; while there is no database it is 1 | one that starts while there is no database stays down |
| PostgreSQL | \`fsync = on\`, \`synchronous_commit = on\` (its defaults) | a crash loses what was acknowledged last (the control of "PostgreSQL crashed" and of "power loss") |
| PostgreSQL with a standby | \`synchronous_standby_names\` that names it | a fail-over loses what was acknowledged last: the control of "failed over" |
| the same, with one standby only | after a fail-over empty that setting, or add a standby | the new primary waits for a standby that is not there, and every write with it |
| whoever promotes | see to it that the old primary is off, and lead the address of \`GATEWAY_DATABASE_URL\` to the new one | two primaries: both accept, and one of them is thrown away |
| PostgreSQL | \`max_connections\` of at least 19 for each replica, three more while one starts, and what else uses it | calls are told to repeat for as long as there is no slot |
| disks | an alert before they are full, and PostgreSQL's log on a volume that nothing else fills | calls are told to repeat until there is space; nothing is lost |
| disk of SQLite | one that keeps what it was told to keep (no write cache without a battery), no layer that drops \`fsync\` | power loss loses receipts and credits: the control |
| names | two servers in \`GATEWAY_DNS_SERVERS\` | names that are not remembered are refused while the one is away |
| chains | \`GATEWAY_CONFIRMATIONS\` deeper than what the chain replaces | a receipt may be withdrawn ([finality](operating.md#finality)) |
| clock | a time service on the machine of the database: replicas go by its clock, which each asks every 3 s, where their own is off by more than a second | payments are refused as expired, or accepted a little late; with SQLite, whose clock is the machine's, a day ahead opens budgets again and sweeps away what was to be kept |

## What was tried

Each row has load before, while and after the fault; \`unknown\` counts callers that were told so. The time is from the end of the fault to a call that every replica has
acknowledged. The control is the same check where it has to fail, so that "0 lost" means something.

${reliabilityTable(kinds.flatMap(({ rows }) => rows))}

${[...new Set(kinds.map(({ measured }) => measured))].map((measured) => `Measured with ${measured}.`).join('\n')}

## What it has found

| what | found by | mended |
| --- | --- | --- |
| an attempt whose commit was there and whose answer was lost stayed under way, with its credit, while its process lived | "PostgreSQL crashed" | refunded within seconds |
| an ending that PostgreSQL could not take was written up to a minute later, and repeats were told that the call is under way | the same | within seconds |
| a payment whose claim was there and whose answer was lost stayed claimed while its process lived | "PostgreSQL crashed under payments" | free again within seconds |
| a payment that was taken back while it waited for its depth was not sent again | "chain reorganises" | after half a minute |

## What it does not show

Not tried: memory and CPU that run out, disks that are slow or return errors, a machine that vanishes
without closing its connections (of a session that does so, \`test/contract/store-lease.test.ts\` tries the lease alone), two primaries at once, a console, market or sign-in under these faults (their crashes are in \`test/long\`), and runs of hours. Packets are delayed
by a proxy, not by the kernel. Faults come one at a time. A few hundred calls find what happens often; what needs a moment of a millisecond is what the crash tests of
\`test/long\` are for, which end the process at every step.

## Run it

\`\`\`sh
npm run chaos                       # all of it, a quarter of an hour or a little more on two cores
npm run chaos -- database failover  # some kinds
npm run chaos -- --write            # keeps the rows; npm run generate writes this page
\`\`\`

Mounts and rules for packets need root on Linux, and the packages \`xfsprogs\`, \`libeatmydata1\`, \`libfaketime\`, \`nftables\` and \`redis-server\`. What is missing fails its row and says so. The exit
code is 0 only where every promise was kept and every control failed.
`
