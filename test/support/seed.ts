// Rows that tests of one layer need from the layers around it.
import { newId } from '../../src/lib/ids.ts'
import type { Capability, SealedCredential, Store } from '../../src/store/ports.ts'
import { hashToken, newToken } from '../../src/lib/tokens.ts'

const scope: Capability['scope'] = {
  hosts: ['api.example.com'],
  path_prefixes: ['/'],
  methods: ['GET', 'POST'],
}

/** @returns the id of a new account with that many credits */
export async function seedAccount(store: Store, credits: number): Promise<string> {
  const createdAt = Date.now()
  const account = { id: newId('acct'), name: 'test', createdAt }
  await store.createAccount({
    account,
    key: {
      id: newId('key'),
      accountId: account.id,
      label: 'test',
      admin: true,
      role: 'operator',
      createdAt,
      revokedAt: null,
    },
    keyHash: hashToken(newToken('sk')),
    grant: { transactionId: newId('txn'), amount: credits, reference: 'seed' },
  })
  return account.id
}

export function makeCredential(accountId: string): Omit<SealedCredential, 'sealed'> {
  return {
    id: newId('cred'),
    accountId,
    provider: 'custom',
    label: 'test',
    scope,
    header: 'authorization',
    scheme: 'Bearer',
    settings: {},
    version: 1,
    isBudgeted: false,
    createdAt: Date.now(),
    rotatedAt: null,
    editedAt: null,
    revokedAt: null,
  }
}

/** A credential that cannot be opened, and a capability on it. */
export async function seedCapability(
  store: Store,
  accountId: string,
): Promise<{ credential: SealedCredential; capability: Capability }> {
  const credential: SealedCredential = {
    ...makeCredential(accountId),
    sealed: { ciphertext: 'AA', iv: 'AA', tag: 'AA', wrap: { kid: 'k', enc: 'AA', wrapped: 'AA' } },
  }
  const id = newId('cap')
  const capability: Capability = {
    id,
    accountId,
    credentialId: credential.id,
    parentId: null,
    rootId: id,
    label: 'test',
    scope,
    maxUses: null,
    uses: 0,
    isBudgeted: false,
    showsBalance: false,
    createdAt: Date.now(),
    expiresAt: Date.now() + 3_600_000,
    revokedAt: null,
  }
  await store.insertCredential(credential)
  await store.insertCapability({ capability, tokenHash: hashToken(newToken('cap')) })
  return { credential, capability }
}
