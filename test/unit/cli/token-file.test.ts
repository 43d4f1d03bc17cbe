import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandFailure } from '../../../src/cli/exit.ts'
import { reserveFile } from '../../../src/cli/reserved-file.ts'
import { deliverToken, type TokenKind } from '../../../src/cli/token-file.ts'
import { removeFolder } from '../../support/remove-folder.ts'

const KEY: TokenKind = { member: 'key', ifLost: ({ key_id: id }) => `End it: keys revoke ${String(id)}` }
const made = { key_id: 'key_1', label: 'lost', key: 'agw_sk_token' }

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'token-file-'))
})
afterEach(() => removeFolder(folder))

it('names what was made and how to end it where the token cannot be kept, and leaves no file', async () => {
  const out = join(folder, 'key')
  const delivered = deliverToken(
    { out },
    KEY,
    async () => made,
    async (file) => ({
      ...(await reserveFile(file)),
      write: () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })),
    }),
  )
  const failure: unknown = await delivered.catch((thrown: unknown) => thrown)
  expect(failure).toBeInstanceOf(CommandFailure)
  const { message, problem } = failure as CommandFailure
  expect(message).toContain(`${out} could not be written (ENOSPC)`)
  expect(message).toMatch(/End it: keys revoke key_1$/)
  expect(problem).toEqual({ error: message, exit_code: 1, made: { key_id: 'key_1', label: 'lost' } })
  expect(await readdir(folder)).toEqual([])
})

it('makes nothing where the file is there already, and leaves that as it is', async () => {
  const out = join(folder, 'key')
  await writeFile(out, 'of somebody else')
  let asked = 0
  const delivered = deliverToken({ out }, KEY, async () => {
    asked++
    return made
  })
  await expect(delivered).rejects.toThrow('exists already')
  expect([asked, await readFile(out, 'utf8')]).toEqual([0, 'of somebody else'])
})

it('leaves no file where the gateway refuses', async () => {
  const refused = new CommandFailure(1, 'Not allowed')
  await expect(deliverToken({ out: join(folder, 'key') }, KEY, () => Promise.reject(refused))).rejects.toBe(
    refused,
  )
  expect(await readdir(folder)).toEqual([])
})

it('has the room before, and afterwards the text alone, for its owner', async () => {
  const file = join(folder, 'key')
  const reserved = await reserveFile(file)
  expect((await stat(file)).size).toBeGreaterThan(4096)
  await reserved.write('agw_sk_token\n')
  expect(await readFile(file, 'utf8')).toBe('agw_sk_token\n')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})
