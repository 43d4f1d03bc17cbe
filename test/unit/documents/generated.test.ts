import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { generatedFiles, withToolTable } from '../../../src/documents/generated.ts'
import { tools } from '../../../tools/index.ts'

const root = new URL('../../../', import.meta.url)
const files = generatedFiles(tools)

it.each([...files])('%s is what `npm run generate` writes', async (path, text) => {
  expect(await readFile(new URL(path, root), 'utf8')).toBe(text)
})

it('no schema of a tool that is gone is left', async () => {
  const left = (await readdir(new URL('schemas/json/', root))).map((name) => `schemas/json/${name}`)
  expect(left.filter((path) => !files.has(path))).toEqual([])
})

it('the table of tools in the README is what `npm run generate` writes', async () => {
  const readme = await readFile(new URL('README.md', root), 'utf8')
  expect(readme).toContain('| `gateway.egress.fetch` |')
  expect(withToolTable(readme, tools)).toBe(readme)
})
