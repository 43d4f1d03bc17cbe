import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWriter } from '../../../src/cli/file-writer.ts'
import { removeFolder } from '../../support/remove-folder.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-writer-'))
})
afterAll(() => removeFolder(folder))

it('keeps what is whole under another name, where somebody else took its own meanwhile', async () => {
  const file = join(folder, 'payments.csv')
  const writer = await openWriter(file)
  await writer.write('one\n')
  await writer.write('two\n')
  await writeFile(file, 'of somebody else')
  await expect(writer.finish()).rejects.toThrow('exists already')
  expect(await writer.keep()).toBe(`${file}.part`)
  expect(await readFile(`${file}.part`, 'utf8')).toBe('one\ntwo\n')
  expect(await readFile(file, 'utf8')).toBe('of somebody else')
})
