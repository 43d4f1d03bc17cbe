import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { tar, type TarEntry } from '../../../src/lib/tar.ts'

const entry = (name: string, content: Buffer, size = content.length): TarEntry => ({
  name,
  size,
  mtime: 1_700_000_000,
  content: Readable.from([content]),
})

it('is unpacked by the tar of the system, each file as it was and of its owner alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tar-'))
  const files = [
    ['empty.json', Buffer.alloc(0)],
    ['one-block', Buffer.alloc(512, 7)],
    ['a.json', Buffer.from('{"a": "ا"}\n')],
  ] as const
  const pieces: Uint8Array[] = []
  for await (const piece of tar(files.map(([name, content]) => entry(name, content)))) pieces.push(piece)
  writeFileSync(join(folder, 'x.tar'), Buffer.concat(pieces))
  execFileSync('tar', ['-xf', 'x.tar'], { cwd: folder })
  for (const [name, content] of files) {
    expect(readFileSync(join(folder, name))).toEqual(content)
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  }
})

it('refuses a file that is not as long as it was', async () => {
  const cut = tar([entry('a', Buffer.from('abc'), 5)])
  const read = async () => {
    for await (const piece of cut) expect(piece).toBeDefined()
  }
  await expect(read()).rejects.toThrow('a has 3 bytes, not 5')
})

it('holds files of more than 8 GiB', async () => {
  const [header] = await tar([entry('big', Buffer.alloc(0), 9 * 2 ** 30)])
    .next()
    .then(({ value }) => [value as Buffer])
  expect([header?.[124], header?.readBigUInt64BE(128)]).toEqual([0x80, 9n * 2n ** 30n])
})
