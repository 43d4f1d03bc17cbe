// Which release has which tables, and what follows for a database that another one has written. It reads nothing.
import { migrationNames, TABLE_VERSION } from './migrations.ts'

/** Releases with the table version that they leave, oldest first. */
const RELEASES: readonly { readonly version: string; readonly tables: number }[] = [
  { version: '5.0.2', tables: 1 },
]

/**
 * Processes whose tables have this version or a later one were run beside this release (`npm run chaos`, a rolling upgrade): they go on while
 * the tables are brought to TABLE_VERSION under them, and start on them (table-terms.ts). Whoever adds a step decides anew, and a test asks.
 */
export const SIDE_BY_SIDE_FROM = 53

export interface UpgradePlan {
  /** The release that wrote it last, as well as the tables tell. */
  readonly writtenBy: string
  readonly migrations: readonly { readonly version: number; readonly name: string }[]
  /** May processes that serve this database go on while this release starts beside them? Undefined where there are none such: SQLite has one process. */
  readonly sideBySide: boolean | undefined
  /** Sentences for a person; none: start this release. */
  readonly byHand: readonly string[]
}

/**
 * Judges a database by the version of its tables.
 * @param reached highest version in it; 0: there are no tables
 * @param release this one, as it calls itself
 * @param usableFrom the oldest version that a release may know and use the tables; undefined: they do not say
 * @param lockFault why a release that knows advisory locks alone cannot serve beside this one, as the end of a sentence
 */
export function planUpgrade(
  engine: 'sqlite' | 'postgres',
  reached: number,
  release: string,
  {
    usableFrom,
    lockFault,
  }: { readonly usableFrom?: number | undefined; readonly lockFault?: string | undefined } = {},
  known: { readonly tables: number; readonly sideBySideFrom: number } = {
    tables: TABLE_VERSION,
    sideBySideFrom: SIDE_BY_SIDE_FROM,
  },
): UpgradePlan {
  const migrations = migrationNames
    .slice(0, known.tables)
    .map((name, index) => ({ version: index + 1, name }))
    .slice(reached)
  const isNewer = reached > known.tables
  const isForeign = isNewer && !(usableFrom !== undefined && usableFrom <= known.tables)
  const sideBySide =
    engine === 'sqlite' || reached === 0
      ? undefined
      : !isForeign && reached >= known.sideBySideFrom && lockFault === undefined
  const byHand = isForeign
    ? [
        `This release knows ${known.tables} versions of the tables and the database has ${reached}: it would not start. Run the newer release again, or restore a backup that ${release} wrote.`,
      ]
    : sideBySide === false
      ? [
          `Stop every process on this database before the first one of this release starts: ${
            lockFault === undefined
              ? 'side by side with these tables was not tried.'
              : `the release before tells who is alive by advisory locks, and here ${lockFault}.`
          }`,
        ]
      : []
  return { writtenBy: nameOf(reached, release, known.tables), migrations, sideBySide, byHand }
}

function nameOf(reached: number, release: string, tables: number): string {
  if (reached === 0) return 'nobody yet'
  if (reached === tables) return `${release}, or one with the same tables`
  const exact = RELEASES.find((one) => one.tables === reached)
  if (exact) return exact.version
  if (reached > tables) return `a release after ${release}`
  const before = RELEASES.findLast((one) => one.tables < reached)
  return before ? `a build after ${before.version}` : `a build before ${RELEASES[0]?.version}`
}
