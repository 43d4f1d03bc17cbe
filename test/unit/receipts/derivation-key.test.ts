import { createHmac, hkdfSync } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openDerivationKey } from '../../../src/receipts/adapters/derivation-key.ts'

let directory: string
let file: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-gateway-derivation-'))
  file = join(directory, 'derivation.jwk')
})
afterEach(() => rm(directory, { recursive: true }))

const open = (inherited?: Buffer) => openDerivationKey({ file, inherited: async () => inherited })

it('derives the same key for the same purpose and another for another, from a file of its owner alone', async () => {
  const deriveKey = await open()
  const again = await open()
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(deriveKey('a').equals(again('a'))).toBe(true)
  expect(deriveKey('a').equals(deriveKey('b'))).toBe(false)
})

it('goes on with the bytes that keys were derived from before, and keeps them when the signing key is another', async () => {
  const seed = Buffer.alloc(32, 7)
  const before = Buffer.from(hkdfSync('sha256', seed, '', 'agent-gateway payment-presentation', 32))
  const inherited = await open(seed)
  expect(inherited('payment-presentation').export()).toEqual(before)
  const later = await open(Buffer.alloc(32, 8))
  expect(later('payment-presentation').export()).toEqual(before)
  expect(createHmac('sha256', later('x')).digest()).toHaveLength(32)
})

it('agrees on one key when two processes start in an empty directory', async () => {
  const [one, two] = await Promise.all([open(), open()])
  expect(one('a').equals(two('a'))).toBe(true)
})

it('refuses a file that others may read, or that holds something else', async () => {
  await open()
  await chmod(file, 0o644)
  await expect(open()).rejects.toThrow(/chmod 600/)
  for (const text of ['nonsense', '{"kty":"oct","k":"c2hvcnQ"}', '{"kty":"OKP","k":"x"}', 'null']) {
    await rm(file)
    await writeFile(file, text, { mode: 0o600 })
    await expect(open()).rejects.toThrow(/not a derivation key/)
  }
})

it('says which member of the file is there twice, and what cannot be read', async () => {
  await writeFile(file, '{"kty":"oct",\n"k":"secret-1",\n"k":"secret-2"}', { mode: 0o600 })
  const failed = open()
  await expect(failed).rejects.toThrow(/It has the member "k" twice in one object, in lines 2 and 3/)
  await expect(failed).rejects.not.toThrow(/secret/)
  await rm(file)
  await mkdir(file, { mode: 0o700 })
  await expect(open()).rejects.toThrow(`${file} is a directory: put the key file in its place`)
  await rm(file, { recursive: true })
})
