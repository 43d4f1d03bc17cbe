import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { readListFile } from '../../../src/email/list-file.ts'
import { makeListFile } from '../../../src/email/adapters/refresh-lists.ts'
import { makeContractsFile } from '../../../src/sandbox/refresh-contracts.ts'

const read = (name: string) => readFile(new URL(`../../../src/data/files/${name}`, import.meta.url), 'utf8')

// Compared whole and not by `toBe`, which would print a hundred thousand lines.
it('the lists of domains are what `npm run refresh-data` writes', async () => {
  expect((await read('email-domains.txt')) === makeListFile()).toBe(true)
})

it('the contracts of the sandbox are what `npm run refresh-data` writes', async () => {
  expect((await read('sandbox-contracts.json')) === (await makeContractsFile())).toBe(true)
})

it('the lists name where they are from, with version, day and licence', async () => {
  const { origins, values } = readListFile(await read('email-domains.txt'))
  expect(origins.map(({ bit }) => bit)).toEqual([1, 2, 8, 16, 32])
  for (const { name, date, licence } of origins) {
    expect(name).toMatch(/^[a-z-]+ \d+\.\d+\.\d+$/)
    expect(date).toMatch(/^20\d\d-\d\d-\d\d$/)
    expect(licence).toMatch(/^(?:MIT|ISC|CC0-1\.0)$/)
  }
  expect(values.size).toBe(107_922)
})

it('a file of domains that was cut is refused', () => {
  expect(() => readListFile('mailinator.com\n')).toThrow('mailinator.com under no list')
  expect(() => readListFile('= x\nmailinator.com\n')).toThrow('under no list')
})
