// Accounts, their service keys and their credits. What a key may do is decided in authenticate.ts, what a credit buys
// in the part that debits it.
import { GatewayError } from '../core/errors.ts'
import { currentActor } from '../lib/acting.ts'
import { newId } from '../lib/ids.ts'
import { Secret } from '../lib/secret.ts'
import type { Role } from '../../schemas/role.ts'
import type { Accounts } from './ports.ts'
import type { ServiceKey, Store } from '../store/ports.ts'
import { hashToken, newToken } from '../lib/tokens.ts'

/** The ledger reference of the credits that every account is given once. */
export const FREE_CREDITS = 'free credits'

/** Accounts, their service keys and credits over the store. The last administrator's key is never revoked. */
export function createAccounts(parts: { store: Store; freeCredits: number; now: () => number }): Accounts {
  const { store, freeCredits, now } = parts
  // One revocation at a time: two that each see the other's key would leave no administrator.
  let revoking: Promise<unknown> = Promise.resolve()

  async function revoke(accountId: string | undefined, keyId: string, by: Role): Promise<ServiceKey> {
    const all = await listLiveKeys(store, accountId)
    if (by !== 'owner' && all.some(({ id, role }) => id === keyId && role === 'owner'))
      throw new GatewayError('role_required', `The key of an owner ends by an owner, and your role is ${by}.`)
    const admins = (accountId === undefined ? all : await listLiveKeys(store, undefined)).filter(
      mayAdminister,
    )
    const [last] = admins
    if (admins.length === 1 && last?.id === keyId && last.accountId === (accountId ?? last.accountId))
      throw new GatewayError(
        'state_conflict',
        'This is the last administrator key: revoking it would lock everybody out. Create another one first.',
      )
    const key = await store.revokeKey({ id: keyId, accountId, now: now() })
    if (!key) throw new GatewayError('key_not_found', 'There is no key of this id on your account.')
    return key
  }

  return {
    async createAccount({ name, label, admin }) {
      const createdAt = now()
      const account = { id: newId('acct', createdAt), name, createdAt }
      const { key, token } = mintKey({ accountId: account.id, label, admin, role: 'owner', createdAt })
      await store.createAccount({
        account,
        key,
        keyHash: hashToken(token),
        grant: { transactionId: newId('txn', createdAt), amount: freeCredits, reference: FREE_CREDITS },
        by: currentActor().id,
      })
      return { account, key, token: new Secret(token), credits: freeCredits }
    },

    async createKey({ accountId, label, role = 'operator' }) {
      // Being an administrator is a property of the account: its keys differ in label, role and life only.
      const admin = role !== 'seller' && (await listLiveKeys(store, accountId)).some((key) => key.admin)
      const { key, token } = mintKey({ accountId, label, admin, role, createdAt: now() })
      if (!(await store.addKey({ key, keyHash: hashToken(token), by: currentActor().id })))
        throw accountNotFound()
      return { key, token: new Secret(token) }
    },

    listKeys: (accountId, page) => store.listKeys(accountId, page),

    revokeKey(accountId, keyId, by = 'owner') {
      const revoked = revoking.then(() => revoke(accountId, keyId, by))
      revoking = revoked.catch(() => {})
      return revoked
    },

    async balance(accountId) {
      const balance = await store.balance(accountId)
      if (balance === undefined) throw accountNotFound()
      return balance
    },

    ledger: (accountId, page) => store.ledger(accountId, page),

    async grant({ accountId, amount, reference }) {
      const at = now()
      const transactionId = newId('txn', at)
      const granted = await store.grant({ accountId, amount, reference, transactionId, now: at })
      if (!granted) throw accountNotFound()
      return granted
    },
  }
}

const accountNotFound = () =>
  new GatewayError(
    'account_not_found',
    'There is no account of this id. gateway.keys.list lists keys with theirs.',
  )

/** A key that nothing knows yet, and its token, which is shown once. */
export function mintKey(input: Pick<ServiceKey, 'accountId' | 'label' | 'admin' | 'role' | 'createdAt'>) {
  const key: ServiceKey = { id: newId('key', input.createdAt), ...input, revokedAt: null }
  return { key, token: newToken('sk') }
}

const PAGE = 100

/** The keys of an installation's first account that can do its work; those who only read could not. */
const mayAdminister = ({ admin, role }: ServiceKey) => admin && (role === 'owner' || role === 'operator')

async function listLiveKeys(store: Store, accountId: string | undefined): Promise<ServiceKey[]> {
  const found: ServiceKey[] = []
  let before: string | undefined
  do {
    const page = await store.listKeys(accountId, { limit: PAGE, before })
    found.push(...page.items.filter((key) => key.revokedAt === null))
    before = page.next ?? undefined
  } while (before !== undefined)
  return found
}
