import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compactVerify, importJWK } from 'jose'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openSigner } from '../../../src/receipts/adapters/signer.ts'
import type { Environment } from '../../../src/receipts/ports.ts'
import { decodeJws, JWS_TYPES, verifyJws } from '../../../src/receipts/types.ts'
import { createPublishedKeys } from '../../support/published-keys.ts'

let directory: string
let file: string
let store: ReturnType<typeof createPublishedKeys>
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-gateway-signer-'))
  file = join(directory, 'signing.jwk')
  store = createPublishedKeys()
})
afterEach(() => rm(directory, { recursive: true }))

const open = (environment: Environment = 'production') =>
  openSigner({ file, store, now: () => 1_000, environment })
const published = () => store.listPublishedKeys()
const jwks = async () => ({ keys: (await published()).map(({ jwk }) => JSON.parse(jwk) as object) })

it('generates a key that only its owner may read, publishes it once and keeps it', async () => {
  const { kid } = await open()
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await open()).kid).toBe(kid)
  expect(await published()).toHaveLength(1)
  expect(JSON.parse((await published())[0]!.jwk)).not.toHaveProperty('d')
})

it('signs what an independent JOSE library verifies', async () => {
  const signer = await open()
  const jws = signer.sign(JWS_TYPES.receipt, { b: 'ü', a: [1, { z: null, y: true }] })
  const key = await importJWK((await jwks()).keys[0]!, 'EdDSA')
  const { payload, protectedHeader } = await compactVerify(jws, key)
  expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: signer.kid, typ: 'gw-receipt+jws' })
  expect(new TextDecoder().decode(payload)).toBe(
    '{"a":[1,{"y":true,"z":null}],"b":"ü","environment":"production"}',
  )
})

it.each(['receipt', 'permit', 'quote', 'offer', 'evidence', 'x402Receipt'] as const)(
  'says in every %s where it is worth something',
  async (kind) => {
    const said = async (environment: Environment, payload: object) =>
      decodeJws((await open(environment)).sign(JWS_TYPES[kind], { ...payload })).payload['environment']
    expect(await said('production', {})).toBe('production')
    expect(await said('sandbox', {})).toBe('sandbox')
    // A test network of a production gateway; in a sandbox no network is more than that.
    expect(await said('production', { environment: 'test' })).toBe('test')
    expect(await said('sandbox', { environment: 'production' })).toBe('sandbox')
  },
)

it('adds nothing to what only the gateway itself or a protocol reads', async () => {
  const signer = await open('sandbox')
  for (const typ of [JWS_TYPES.topUp, JWS_TYPES.mcpSession, 'JOSE'])
    expect(decodeJws(signer.sign(typ, { n: 1 })).payload).toEqual({ n: 1 })
})

it('agrees on one key when two processes start in an empty directory', async () => {
  const [one, two] = await Promise.all([open(), open()])
  const jws = one.sign(JWS_TYPES.receipt, { n: 1 })
  expect(two.kid).toBe(one.kid)
  expect(await verifyJws(jws, await jwks(), JWS_TYPES.receipt)).toMatchObject({ ok: true })
})

it('refuses a key file that others may read, saying what to do', async () => {
  await open()
  await chmod(file, 0o644)
  await expect(open()).rejects.toThrow(/chmod 600/)
})

it.each([
  ['not JSON', 'nonsense'],
  ['another key type', '{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"c"}'],
  [
    'a missing private half',
    '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}',
  ],
])('refuses a key file that holds %s without quoting it', async (_name, text) => {
  await writeFile(file, text, { mode: 0o600 })
  await expect(open()).rejects.toThrow(/not an Ed25519 private key/)
})

it('refuses a key file whose public half belongs to another key', async () => {
  await open()
  const jwk = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>
  const other = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
  await writeFile(file, JSON.stringify({ ...jwk, x: other }))
  await expect(open()).rejects.toThrow(/not an Ed25519 private key/)
})

it('says which member of the key file is there twice, and what cannot be read', async () => {
  await writeFile(file, '{"kty":"OKP","crv":"Ed25519",\n"d":"secret-1",\n\n"d":"secret-2"}', { mode: 0o600 })
  await expect(open()).rejects.toThrow(/It has the member "d" twice in one object, in lines 2 and 4/)
  await expect(open()).rejects.not.toThrow(/secret/)
  await rm(file)
  await mkdir(file, { mode: 0o700 })
  await expect(open()).rejects.toThrow(`${file} is a directory: put the key file in its place`)
})
