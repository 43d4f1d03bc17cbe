// What a person who signs in is told where the store does not take it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import { createSessions } from '../../../src/identity/sessions.ts'
import { createSignIn } from '../../../src/identity/sign-in.ts'
import { createWebauthn } from '../../../src/identity/webauthn.ts'
import { newId } from '../../../src/lib/ids.ts'
import type { Passkey, Store } from '../../../src/store/ports.ts'
import { createSoftKey } from '../../support/authenticator.ts'
import { addAccount, NOW } from '../../support/store.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const baseUrl = 'http://localhost:8080'
const now = () => NOW
let temp: TempStore
beforeAll(async () => {
  temp = await openTempStore()
})
afterAll(() => temp?.close())

it('says when to try again, and for the audit log whose passkey it was, where the store is away', async () => {
  const key = createSoftKey()
  const accountId = await addAccount(temp.store, 0)
  const personId = newId('per', NOW)
  await temp.store.addPerson({
    person: { id: personId, name: 'Layla', createdAt: NOW, disabledAt: null },
    membership: { accountId, personId, role: 'owner', admin: false, createdAt: NOW },
  })
  const webauthn = createWebauthn(baseUrl)
  const { challenge, options: creation } = await webauthn.creationOptions({
    personId,
    name: 'Layla',
    has: [],
  })
  const made = await webauthn.register(
    key.create(creation as unknown as Parameters<typeof key.create>[0], { origin: baseUrl }),
    challenge,
  )
  const passkey: Passkey = {
    id: newId('psk', NOW),
    personId,
    ...made,
    label: 'a key',
    createdAt: NOW,
    usedAt: null,
  }
  await temp.store.addPasskey({ passkey, accountId, maxPasskeys: 1 })

  const store: Store = {
    ...temp.store,
    noteAuthenticatorUse: () =>
      Promise.reject(
        new GatewayError('store_unavailable', 'Try again.', { extras: { retry_after_seconds: 2 } }),
      ),
  }
  const signIn = createSignIn({
    store,
    sessions: createSessions({ store, now }),
    addresses: { baseUrl },
    now,
  })
  const asked = await signIn.askPasskey()
  const answer = key.get(asked as unknown as Parameters<typeof key.get>[0], { origin: baseUrl })
  await expect(
    signIn.withPasskey({ answer, from: { address: '192.0.2.1', userAgent: 'x' } }),
  ).rejects.toMatchObject({
    code: 'store_unavailable',
    extras: { retry_after_seconds: 2 },
    about: { type: 'person', id: personId, accountId },
  })
})
