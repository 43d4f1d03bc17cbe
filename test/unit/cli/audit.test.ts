// What is taken for a witness: earlier exports, signed heads, and a gateway's log as it is.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readWitness } from '../../../src/cli/audit.ts'
import { openSigner } from '../../../src/receipts/adapters/signer.ts'
import { publishedKeys } from '../../../src/receipts/published-keys.ts'
import { JWS_TYPES, type KeyDocument } from '../../../src/receipts/types.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const PLACE = { chain: 'acct_1', seq: 1, hash: 'h' }
let temp: TempStore
let keys: KeyDocument
let jws: string
beforeAll(async () => {
  temp = await openTempStore()
  const file = join(temp.directory, 'signing.jwk')
  const signer = await openSigner({ file, store: temp.store, now: () => 1_000, environment: 'sandbox' })
  keys = publishedKeys(await temp.store.listPublishedKeys())
  jws = signer.sign(JWS_TYPES.auditHead, { iss: 'http://127.0.0.1', iat: 1, ...PLACE })
})
afterAll(() => temp?.close())

async function read(...lines: string[]) {
  const file = join(temp.directory, 'witness')
  await writeFile(file, lines.join('\n'))
  return readWitness(file, keys)
}

describe('readWitness', () => {
  it('takes heads by themselves, of an export and of the log', async () => {
    const logged = JSON.stringify({ level: 30, event: 'audit_head', jws })
    const exported = JSON.stringify({ type: 'head', jws })
    expect(await read(jws, exported, logged)).toMatchObject([PLACE, PLACE, PLACE])
  })

  it('passes over what a log holds beside its heads', async () => {
    const logged = JSON.stringify({ level: 30, event: 'audit_head', jws })
    expect(
      await read(
        '(node:7) ExperimentalWarning: SQLite is an experimental feature and might change at any time',
        '(Use `node --trace-warnings ...` to show where the warning was created)',
        '{"level":30,"msg":"listening"}',
        logged,
        logged.slice(0, -9),
      ),
    ).toMatchObject([PLACE])
  })

  it.each([
    ['by itself', (head: string) => head],
    ['in a line of the log', (head: string) => JSON.stringify({ event: 'audit_head', jws: head })],
    ['in a line of the log, cut off', () => JSON.stringify({ event: 'audit_head', jws: 'cut' })],
  ])('takes no file with a changed head %s', async (_, line) => {
    const [head, , signature] = jws.split('.')
    const body = Buffer.from(JSON.stringify({ ...PLACE, seq: 2 })).toString('base64url')
    await expect(read(jws, line(`${head}.${body}.${signature}`))).rejects.toThrow(
      'a head in it does not verify',
    )
  })

  it('says so of a file that holds none', async () =>
    await expect(read('a text', '{"level":30}')).rejects.toThrow('holds no signed head'))
})
