// The order of the long tests. Vitest begins with the largest files where it knows no times, as after a clean install, and some of the
// slowest are short: begun last, they would run alone while a core has nothing to do.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those that take longer than the end of a run should, the slowest first. What comes after them is as short as vitest's guess is good. */
const LONGEST = [
  'test/flow/fuzz-doors',
  'test/flow/fuzz-rest',
  ...[
    // These start the most gateways: 55 down to 20 of them, at two to three seconds of CPU time each.
    'crash',
    'actions-crash',
    // Two and a half minutes each, and so short that they came among the last.
    'payouts-crash',
    'refunds-crash',
    'idempotency-crash',
    'edge-crash',
    'leak-ordinary',
    'data-verbs',
    'egress-oauth-crash',
    'rotation-crash',
    'debits-crash',
    'settle-crash',
    'payments-crash',
    'settlement-rpc',
    'market-money-model',
    'hostile-facilitator',
    'package',
    'cli',
    'cli-serve',
    'chains-settler',
    'cli-stdio',
    'cli-permits',
    'readme',
    'purchase',
    'discovery-settled',
    'email-limits',
    'cli-doctor',
    'discovery',
  ].map((name) => `test/long/${name}`),
].map((path) => `${path}.test.ts`)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config
    const gone = LONGEST.filter((path) => !existsSync(join(root, path)))
    if (gone.length > 0)
      throw new Error(`test/support/longest-first.ts names files that are gone: ${gone.join(', ')}`)
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((path) => moduleId === join(root, path))
      return place === -1 ? LONGEST.length : place
    }
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
