import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandFailure, Exit } from '../../../src/cli/exit.ts'
import { readSecret, refuseSecretArguments } from '../../../src/cli/secrets.ts'
import { newToken } from '../../../src/lib/tokens.ts'

describe('refuseSecretArguments', () => {
  const token = newToken('sk')
  it.each([
    ['a service key as a positional argument', ['credentials', 'add', token]],
    ['a capability inside an option', ['capabilities', 'narrow', `--from=${newToken('cap')}`]],
    ['an option that would take the secret', ['credentials', 'add', '--secret', 'sk-live-1']],
    ['the same with an equals sign', ['credentials', 'add', '--api-key=sk-live-1']],
    ['a token without its checksum', ['keys', 'list', token.slice(0, -6)]],
  ])('refuses %s without quoting it back', (_, args) => {
    const failure = catchFailure(() => refuseSecretArguments(args))
    expect(failure.exitCode).toBe(Exit.usage)
    expect(failure.message).toContain('may not be an argument')
    expect(failure.message).not.toContain(token.slice(0, 20))
    expect(failure.message).not.toContain('sk-live-1')
  })

  it.each([
    ['a file that holds one', ['credentials', 'add', '--secret-file', 'key.txt']],
    ['a key file', ['keys', 'list', '--key-file', 'operator.key']],
    ['an id', ['keys', 'revoke', 'key_0000000000000000000000000000000000']],
    ['a word about tokens', ['keys', 'create', '--label', 'agw_sk_ rotation']],
  ])('accepts %s', (_, args) => {
    expect(() => refuseSecretArguments(args)).not.toThrow()
  })
})

describe('readSecret', () => {
  let folder: string
  const write = (text: string | Buffer) => {
    const file = join(folder, 'secret')
    writeFileSync(file, text)
    return file
  }
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'secret-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each([
    ['one line', 'sk-1\n', 'sk-1'],
    ['a Windows line', 'sk-1\r\n', 'sk-1'],
    ['no line end', 'sk-1', 'sk-1'],
    ['spaces that belong to it', ' a b \n', ' a b '],
    ['only the last line end', 'a\n\n', 'a\n'],
  ])('reads %s', async (_, text, expected) => {
    const secret = await readSecret('secret', write(text))
    expect(secret.use((value) => value)).toBe(expected)
    expect(String(secret)).toBe('[secret]')
  })

  it.each([
    ['an empty file', () => write('\n'), 'No secret was given'],
    ['a file that is not there', () => join(folder, 'nothing'), 'cannot be read'],
    ['a file that is no secret at all', () => write(Buffer.alloc(65 * 1024, 'x')), 'longer than 65536 bytes'],
  ])('refuses %s', async (_, file, words) => {
    await expect(readSecret('secret', file())).rejects.toThrow(words)
  })
})

function catchFailure(act: () => void): CommandFailure {
  try {
    act()
  } catch (thrown) {
    if (thrown instanceof CommandFailure) return thrown
    throw thrown
  }
  throw new Error('nothing was thrown')
}
