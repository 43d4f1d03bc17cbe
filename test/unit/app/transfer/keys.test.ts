// Which key files a restore asks for, and what it says of those that do not fit.
import { createSecretKey, generateKeyPairSync, hkdfSync } from 'node:crypto'
import { chmod, chown, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calculateJwkThumbprint } from 'jose'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfig } from '../../../../src/app/config.ts'
import { derivationCheck } from '../../../../src/app/installation.ts'
import { describeKey, examineKeys } from '../../../../src/app/transfer/keys.ts'
import { readSigningKeys } from '../../../../src/receipts/adapters/signing-key-file.ts'
import { removeFolder } from '../../../support/remove-folder.ts'

const NOTHING = { authority: [], signing: [], derivation_check: null }
const OPERATOR = { GATEWAY_OPERATOR_KEY: '' }

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-keys-'))
})
afterEach(() => removeFolder(folder))

const config = (env: Record<string, string> = {}) =>
  loadConfig({ GATEWAY_DATA_DIR: folder, ...OPERATOR, ...env })
const put = (name: string, document: object) =>
  writeFile(join(folder, name), JSON.stringify(document), { mode: 0o600 })
const found = async (needs: Parameters<typeof examineKeys>[0], env?: Record<string, string>) =>
  (await examineKeys(needs, config(env)))
    .filter(({ file }) => !file.endsWith('operator.key'))
    .map(({ file, isNeeded, says }) => [file.split('/').at(-1), isNeeded, says.split(/[:,]/)[0]])

it('asks for nothing that the data does not need, but says that there is no operator key', async () => {
  expect((await examineKeys(NOTHING, config())).map(({ file, isNeeded }) => [file, isNeeded])).toEqual([
    [join(folder, 'operator.key'), false],
  ])
})

it('asks for the wrapping key that credentials are sealed to, in the file or the service', async () => {
  const needs = { ...NOTHING, authority: ['kid-of-before'] }
  expect(await found(needs)).toEqual([['authority.jwk', true, 'It is missing']])
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = privateKey.export({ format: 'jwk' })
  await put('authority.jwk', jwk)
  expect(await found(needs)).toEqual([['authority.jwk', true, 'It does not hold kid-of-before']])
  expect(await found({ ...NOTHING, authority: [await calculateJwkThumbprint(jwk as never)] })).toEqual([])
})

it('asks for the very derivation key, and makes none', async () => {
  const key = Buffer.alloc(32, 3)
  const derive = (purpose: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `agent-gateway ${purpose}`, 32)))
  const needs = { ...NOTHING, derivation_check: derivationCheck(derive) }
  expect(await found(needs)).toEqual([['derivation.jwk', true, 'It is missing']])
  expect(await readdir(folder)).toEqual([])
  await put('derivation.jwk', { kty: 'oct', k: Buffer.alloc(32, 4).toString('base64url') })
  expect(await found(needs)).toEqual([['derivation.jwk', true, 'It is the key of another installation']])
  await put('derivation.jwk', { kty: 'oct', k: key.toString('base64url') })
  expect(await found(needs)).toEqual([])
  await chmod(join(folder, 'derivation.jwk'), 0o644)
  expect(await found(needs)).toMatchObject([
    ['derivation.jwk', true, expect.stringContaining('derivation.jwk holds')],
  ])
})

// Nobody else may give a file to another group.
if (process.getuid?.() === 0)
  it('takes keys of root that only its group may read, asked by root as well', async () => {
    const key = Buffer.alloc(32, 3)
    const derive = (purpose: string) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `agent-gateway ${purpose}`, 32)))
    const needs = { ...NOTHING, derivation_check: derivationCheck(derive) }
    await put('derivation.jwk', { kty: 'oct', k: key.toString('base64url') })
    // Root's own group is nobody that a key is handed to.
    await chown(join(folder, 'derivation.jwk'), 0, 65532)
    await chmod(join(folder, 'derivation.jwk'), 0o440)
    expect(await found(needs)).toEqual([])
  })

it('names a file once', async () => {
  await put('derivation.jwk', {})
  const [finding] = await examineKeys({ ...NOTHING, derivation_check: 'x' }, config())
  expect(describeKey(finding!)).toMatch(/^\S+derivation\.jwk is not a derivation key/)
  expect(describeKey({ ...finding!, says: 'It is missing' })).toMatch(/^\S+derivation\.jwk: It is missing$/)
})

it('goes without the signing key, and says what that means', async () => {
  const needs = { ...NOTHING, signing: ['kid-of-before'] }
  expect(await found(needs)).toEqual([['signing.jwk', false, 'It is missing']])
  await put('signing.jwk', generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
  expect(await found(needs)).toEqual([['signing.jwk', false, 'It is not one of the keys that sign here']])
  const [{ kid }] = (await readSigningKeys(join(folder, 'signing.jwk')))!
  expect(await found({ ...NOTHING, signing: [kid] })).toEqual([])
})
