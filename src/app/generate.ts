// `npm run generate`: writes the checked-in documents anew. A test fails while they are stale.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tools } from '../../tools/index.ts'
import { generatedFiles, withToolTable } from '../documents/generated.ts'

const root = new URL('../../', import.meta.url)
const files = generatedFiles(tools)

await mkdir(new URL('schemas/json/', root), { recursive: true })
for (const name of await readdir(new URL('schemas/json/', root)))
  if (!files.has(`schemas/json/${name}`)) await rm(new URL(`schemas/json/${name}`, root))
for (const [path, text] of files) await writeFile(new URL(path, root), text)
const readme = new URL('README.md', root)
await writeFile(readme, withToolTable(await readFile(readme, 'utf8'), tools))
console.log(`${files.size + 1} files written`)
