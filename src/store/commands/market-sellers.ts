// Those who sell. A name lasts for ever and no other looks like it; an account has one seller at most.
import { all, columns, type Command, command, first, insertInto, Undo } from '../command.ts'
import type { Millis, Page, PageRequest } from '../model.ts'
import { selectPage } from '../page.ts'
import type { Account, ServiceKey } from '../ports/accounts.ts'
import type { NewMarketEvent, Seller } from '../ports/market.ts'
import { addKey, createAccount } from './accounts.ts'
import { tellSeller } from './market-events.ts'

const fields = [
  'id',
  'accountId',
  'name',
  'description',
  'payoutAddress',
  'contact',
  'webhookUrl',
  'state',
  'stateReason',
  'version',
  'createdAt',
  'updatedAt',
] as const
export const SELLER = columns(fields)
const INSERT = `${insertInto('market_sellers', [...fields, 'skeleton', 'registeredFrom'])}
  ON CONFLICT DO NOTHING RETURNING id`

const A_DAY_MS = 24 * 3600 * 1000
const toSeller = (row: Seller | undefined): Seller | undefined => row && { ...row }

export type SellerCreated =
  | { readonly ok: true }
  /** `name`: taken, or looks like one that is. `account`: has a seller. `address`, `day`: as many as may register. */
  | { readonly ok: false; readonly reason: 'name' | 'account' | 'address' | 'day' }

/** Registers a seller, with its account and key where it brings none of its own. */
export const createSeller = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  seller: Seller
  /** What its id looks like. */
  skeleton: string
  /** A new account without credits, and its first key. */
  opening?: { account: Account; key: ServiceKey; keyHash: Buffer }
  /** The address that asks; null where the account is known already, which nothing bounds. */
  from: string | null
  limits: { perAddress: number; perDay: number }
}): Command<SellerCreated> {
  const { seller, skeleton, opening, from, limits } = input
  const since = seller.createdAt - A_DAY_MS
  yield* all(
    `UPDATE market_sellers SET registered_from = NULL WHERE registered_from IS NOT NULL AND created_at < $1`,
    since,
  )
  if (from !== null) {
    const counts = yield* first<{ day: number; address: number }>(
      `SELECT (SELECT count(*) FROM market_sellers WHERE created_at >= $1) AS day,
        (SELECT count(*) FROM market_sellers WHERE registered_from = $2 AND created_at >= $1) AS address`,
      since,
      from,
    )
    if (counts && counts.address >= limits.perAddress) return { ok: false, reason: 'address' }
    if (counts && counts.day >= limits.perDay) return { ok: false, reason: 'day' }
  }
  if (opening)
    yield* createAccount({
      ...opening,
      grant: { transactionId: opening.account.id, amount: 0, reference: '' },
    })
  const made = yield* first(INSERT, ...fields.map((name) => seller[name]), skeleton, from)
  if (made) return { ok: true }
  const own = yield* findSellerOfAccount(seller.accountId)
  throw new Undo<SellerCreated>({ ok: false, reason: own ? 'account' : 'name' })
})

/** A further key of a seller; `revokeOthers` ends those that it had. False where there is no such account. */
export const replaceSellerKeys = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  key: ServiceKey
  keyHash: Buffer
  now: Millis
}): Command<boolean> {
  const { key, keyHash, now } = input
  yield* all(
    `UPDATE service_keys SET revoked_at = $1 WHERE account_id = $2 AND role = 'seller' AND revoked_at IS NULL`,
    now,
    key.accountId,
  )
  return yield* addKey({ key, keyHash })
})

export const findSeller = command({ kind: 'lookup' })(function* (id: string): Command<Seller | undefined> {
  return toSeller(yield* first<Seller>(`SELECT ${SELLER} FROM market_sellers WHERE id = $1`, id))
})

export const findSellerOfAccount = command({ kind: 'lookup', namesAccount: true })(function* (
  accountId: string,
): Command<Seller | undefined> {
  return toSeller(
    yield* first<Seller>(`SELECT ${SELLER} FROM market_sellers WHERE account_id = $1`, accountId),
  )
})

export type SellerEdit = Pick<Seller, 'name' | 'description' | 'payoutAddress' | 'contact' | 'webhookUrl'>

/** Changes what a seller says of itself. Undefined where it is of another version by now. */
export const updateSeller = command({ kind: 'statement', touches: 'access' })(function* (input: {
  id: string
  fromVersion: number
  edit: SellerEdit
  now: Millis
}): Command<Seller | undefined> {
  const { id, fromVersion, edit, now } = input
  return toSeller(
    yield* first<Seller>(
      `UPDATE market_sellers SET name = $1, description = $2, payout_address = $3, contact = $4, webhook_url = $5,
         version = version + 1, updated_at = $6
       WHERE id = $7 AND version = $8 RETURNING ${SELLER}`,
      edit.name,
      edit.description,
      edit.payoutAddress,
      edit.contact,
      edit.webhookUrl,
      now,
      id,
      fromVersion,
    ),
  )
})

/** Suspends a seller with everything it offers, or lets it sell again. Undefined where there is none, or it is in that state. */
export const setSellerState = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  id: string
  state: Seller['state']
  reason: string | null
  event: NewMarketEvent
  now: Millis
}): Command<Seller | undefined> {
  const { id, state, reason, event, now } = input
  const changed = yield* first<Seller>(
    `UPDATE market_sellers SET state = $1, state_reason = $2, updated_at = $3
     WHERE id = $4 AND state <> $1 RETURNING ${SELLER}`,
    state,
    reason,
    now,
    id,
  )
  if (!changed) return undefined
  // Whoever follows listings by the time of their last change sees that these are sold or not sold from now on.
  yield* all(`UPDATE market_listings SET updated_at = $1 WHERE seller_id = $2`, now, id)
  yield* tellSeller(id, event, now)
  return toSeller(changed)
})

/** Sellers, the last of the alphabet first; `state` undefined: of every state. */
export const listSellers = command({ kind: 'read' })(function* (
  filter: { state?: Seller['state'] | undefined },
  page: PageRequest,
): Command<Page<Seller>> {
  return yield* selectPage<Seller, Seller>(
    { columns: SELLER, from: 'market_sellers', id: 'id' },
    [['state = $', filter.state]],
    page,
    (row) => ({ ...row }),
    ({ id }) => id,
  )
})
