// A mandate is what an operator allows to be asked for. Its counters say how much of it permits hold; whoever changes them has
// locked the row. Lock order of every command: credential, capability or mandate, permit, account, counts.
import { GatewayError } from '../../core/errors.ts'
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import { selectPage } from '../page.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import type { Mandate, NewMandate } from '../ports/actions.ts'

const beginning = [
  'id',
  'accountId',
  'digest',
  'purpose',
  'credentialId',
  'host',
  'pathPrefix',
  'methods',
  'maxCalls',
  'maxCredits',
  'requiresApproval',
  'approval',
  'expiresAt',
  'createdAt',
] as const
const MANDATE = columns([...beginning, 'calls', 'credits', 'revokedAt'])

type MandateRow = Omit<Mandate, 'methods' | 'requiresApproval' | 'approval'> & {
  methods: string
  requiresApproval: number
  approval: string | null
}
const toMandate = (row: MandateRow): Mandate => ({
  ...row,
  methods: JSON.parse(row.methods) as string[],
  requiresApproval: row.requiresApproval === 1,
  approval: row.approval === null ? null : (JSON.parse(row.approval) as Mandate['approval']),
})

const INSERT = `${insertInto('mandates', beginning)}
  ON CONFLICT (account_id, digest) DO NOTHING RETURNING ${MANDATE}`
const FIND = `SELECT ${MANDATE} FROM mandates WHERE account_id = $1 AND digest = $2`

/** Idempotent by (account, digest): what comes back is the row that stands, which may be used up or revoked. */
export const insertMandate = command({ kind: 'statement', touches: 'access' })(function* (
  mandate: NewMandate,
): Command<Mandate> {
  const values = beginning.map((name) => {
    if (name === 'methods') return JSON.stringify(mandate.methods)
    if (name === 'approval') return mandate.approval && JSON.stringify(mandate.approval)
    return name === 'requiresApproval' ? Number(mandate.requiresApproval) : mandate[name]
  })
  // PostgreSQL holds every text but this.
  if (mandate.purpose.includes('\0'))
    throw new GatewayError(
      'input_invalid',
      'The purpose holds the character U+0000, which nothing in it may.',
    )
  // Again when the one that was in the way is swept by the time it is looked for.
  for (;;) {
    const row =
      (yield* first<MandateRow>(INSERT, ...values)) ??
      (yield* first<MandateRow>(FIND, mandate.accountId, mandate.digest))
    if (row) return toMandate(row)
  }
})

const GET = `SELECT ${MANDATE} FROM mandates WHERE id = $1 AND account_id = $2`
/** A mandate of another account is not found. */
export const getMandate = command({ kind: 'lookup' })(function* (
  id: string,
  accountId: string,
): Command<Mandate | undefined> {
  const row = yield* first<MandateRow>(GET, id, accountId)
  return row && toMandate(row)
})

/** The row, locked until the transaction ends: its counters may be changed. */
export function* lockMandate(id: string, accountId: string): Command<Mandate | undefined> {
  const row = yield* first<MandateRow>(`${GET} FOR UPDATE`, id, accountId)
  return row && toMandate(row)
}

/** Newest first, revoked and expired ones too. */
export const listMandates = command({ kind: 'read', namesAccount: true })(function* (
  accountId: string,
  page: PageRequest,
): Command<Page<Mandate>> {
  return yield* selectPage<MandateRow, Mandate>(
    { columns: MANDATE, from: 'mandates', id: 'id' },
    [['account_id = $', accountId]],
    page,
    toMandate,
    (mandate) => mandate.id,
  )
})

/** Idempotent. No permit of it is executed from then on. */
export const revokeMandate = command({ kind: 'statement', touches: 'access', overtakes: 'mandates' })(
  function* (input: { id: string; accountId: string; now: Millis }): Command<Mandate | undefined> {
    const row = yield* first<MandateRow>(
      `UPDATE mandates SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2 AND account_id = $3
     RETURNING ${MANDATE}`,
      input.now,
      input.id,
      input.accountId,
    )
    return row && toMandate(row)
  },
)

const ADD_SHARE = 'UPDATE mandates SET calls = calls + $1, credits = credits + $2 WHERE id = $3'
/** Takes from what the mandate allows; negative numbers give back. */
export function* addShare(id: string, calls: number, credits: number): Command<void> {
  yield* all(ADD_SHARE, calls, credits, id)
}

const SHARE_OF = 'SELECT mandate_id AS "mandateId", cost FROM permits WHERE id = $1'
/** Gives back what executed permits took, of which nothing was sent. Nothing of a permit that was swept. */
export function* returnShares(permitIds: readonly string[]): Command<void> {
  const shares: { mandateId: string; cost: number }[] = []
  for (const permitId of permitIds) shares.push(...(yield* all<(typeof shares)[number]>(SHARE_OF, permitId)))
  // The order is the same everywhere, so that nobody waits for whoever waits for them.
  shares.sort((a, b) => (a.mandateId < b.mandateId ? -1 : a.mandateId > b.mandateId ? 1 : 0))
  for (const { mandateId, cost } of shares) yield* addShare(mandateId, -1, -cost)
}
