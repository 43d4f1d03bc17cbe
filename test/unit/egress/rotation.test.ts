import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openAuthority } from '../../../src/egress/adapters/authority.ts'
import { bindingOf } from '../../../src/egress/sealing.ts'
import { createVault } from '../../../src/egress/envelope.ts'
import type { Authority, Vault } from '../../../src/egress/ports.ts'
import { publishAuthority, rotateAuthority } from '../../../src/egress/rotation.ts'
import { createSealGate } from '../../../src/egress/sealing.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { SealedCredential } from '../../../src/store/ports.ts'
import { makeCredential, seedAccount } from '../../support/seed.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'
import { cites } from '../../requirements.ts'

let temp: TempStore
let authority: Authority
let vault: Vault
let accountId: string
const seals = createSealGate()
beforeEach(async () => {
  temp = await openTempStore()
  authority = await openAuthority({ file: join(temp.directory, 'authority.jwk'), now: Date.now })
  vault = createVault(authority)
  accountId = await seedAccount(temp.store, 0)
  await publishAuthority({ store: temp.store, authority, now: Date.now })
})
afterEach(() => temp.close())

const parts = () => ({ store: temp.store, authority, seals, now: Date.now })

async function storeSealed(count: number): Promise<SealedCredential[]> {
  const made: SealedCredential[] = []
  for (let i = 0; i < count; i++) {
    const credential = makeCredential(accountId)
    const sealed = await vault.seal(new Secret(`secret number ${i}`), bindingOf(credential))
    made.push({ ...credential, sealed })
    await temp.store.insertCredential(made.at(-1)!)
  }
  return made
}

it(cites('egress:rotation:rewrap', 're-wraps every record key and touches nothing else'), async () => {
  // More than one batch.
  const before = await storeSealed(130)
  const old = authority.current().kid
  const { kid, retired, rewrapped } = await rotateAuthority(parts())
  expect({ retired, rewrapped }).toEqual({ retired: [old], rewrapped: 130 })
  expect(kid).not.toBe(old)
  for (const [i, { sealed, ...credential }] of before.entries()) {
    const after = (await temp.store.getCredential(credential.id, accountId))!
    const { wrap, ...rest } = after.sealed
    const { wrap: oldWrap, ...untouched } = sealed
    expect(rest).toEqual(untouched)
    expect(wrap.kid).toBe(kid)
    expect(wrap.wrapped).not.toBe(oldWrap.wrapped)
    const secret = await vault.open(after.sealed, bindingOf(after))
    expect(secret.use((value) => value)).toBe(`secret number ${i}`)
  }
})

it(cites('egress:rotation:backup', 'leaves what a backup kept under the old key shut'), async () => {
  const [credential] = await storeSealed(1)
  await rotateAuthority(parts())
  await expect(vault.open(credential!.sealed, bindingOf(credential!))).rejects.toThrow()
  expect(await readFile(join(temp.directory, 'authority.jwk'), 'utf8')).not.toContain(
    credential!.sealed.wrap.kid,
  )
})

it(cites('egress:rotation:published', 'publishes the new key and retires the old one'), async () => {
  const old = authority.current().kid
  const { kid } = await rotateAuthority(parts())
  const keys = (await temp.store.listPublishedKeys()).map((key) => [key.kid, key.retiredAt === null])
  expect(Object.fromEntries(keys)).toEqual({ [old]: false, [kid]: true })
  await publishAuthority(parts())
  expect(await temp.store.listPublishedKeys()).toHaveLength(2)
})

it(
  cites(
    'egress:rotation:race',
    'waits for a credential that was sealed under the old key and is not stored yet',
  ),
  async () => {
    const credential = makeCredential(accountId)
    const sealed = await vault.seal(new Secret('in between'), bindingOf(credential))
    const insert = Promise.withResolvers<void>()
    const storing = seals.run(async () => {
      await insert.promise
      await temp.store.insertCredential({ ...credential, sealed })
    })
    // The row appears only once the rotation waits for it; a rotation that does not wait never sees it.
    const waiting = {
      ...seals,
      settled() {
        insert.resolve()
        return seals.settled()
      },
    }
    const { rewrapped } = await rotateAuthority({ ...parts(), seals: waiting })
    insert.resolve()
    await storing
    expect(rewrapped).toBe(1)
    const after = (await temp.store.getCredential(credential.id, accountId))!
    expect((await vault.open(after.sealed, bindingOf(after))).use((value) => value)).toBe('in between')
  },
)

it('keeps the old key and names the record when one cannot be re-wrapped', async () => {
  const [good] = await storeSealed(1)
  const credential = makeCredential(accountId)
  const sealed = await vault.seal(
    new Secret('of another row'),
    bindingOf({ ...credential, id: 'cred_other' }),
  )
  await temp.store.insertCredential({ ...credential, sealed })
  const old = authority.current().kid
  await expect(rotateAuthority(parts())).rejects.toMatchObject({
    code: 'state_conflict',
    extras: { credential_ids: [credential.id] },
  })
  expect(await readFile(join(temp.directory, 'authority.jwk'), 'utf8')).toContain(old)
  const after = (await temp.store.getCredential(good!.id, accountId))!
  expect(after.sealed.wrap.kid).toBe(authority.current().kid)
})
