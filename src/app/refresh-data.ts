// `npm run refresh-data`: writes the files of src/data/files anew from the development packages that they come from. A test fails while
// they are stale. To refresh a list, install another version of its package (`npm install --save-dev --save-exact`) and run this.
import { writeFile } from 'node:fs/promises'
import { makeListFile } from '../email/adapters/refresh-lists.ts'
import { CONTRACTS_FILE } from '../sandbox/contracts.ts'
import { makeContractsFile } from '../sandbox/refresh-contracts.ts'

const folder = new URL('../data/files/', import.meta.url)
for (const [name, text] of [
  ['email-domains.txt', makeListFile()],
  [CONTRACTS_FILE, await makeContractsFile()],
] as const) {
  await writeFile(new URL(name, folder), text)
  console.log(`${name}: ${text.length} characters`)
}
