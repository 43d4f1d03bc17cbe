// `npm run generate`: writes the checked-in documents anew, and the code blocks of the written ones. A test fails while they are stale.
import { readFileSync } from 'node:fs'
import { glob, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tools } from '../../tools/index.ts'
import { generatedFiles } from '../documents/generated.ts'
import { withSources } from '../documents/pages.ts'
import { metricRows } from '../telemetry/instruments.ts'
import { configurationVariables } from './documented-variables.ts'

const root = new URL('../../', import.meta.url)
const [bench, chaos] = await Promise.all(
  ['bench', 'chaos'].map(async (of) =>
    JSON.parse(await readFile(new URL(`${of}/results.json`, root), 'utf8')),
  ),
)
const files = generatedFiles({
  tools,
  variables: configurationVariables(),
  metrics: metricRows(),
  bench,
  chaos,
})

for (const folder of ['schemas/json/', 'docs/']) await mkdir(new URL(folder, root), { recursive: true })
for (const name of await readdir(new URL('schemas/json/', root)))
  if (!files.has(`schemas/json/${name}`)) await rm(new URL(`schemas/json/${name}`, root))
for (const [path, text] of files) await writeFile(new URL(path, root), text)

for await (const path of glob(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md'], { cwd: root.pathname })) {
  const page = await readFile(new URL(path, root), 'utf8')
  const current = withSources(page, (source) => readFileSync(new URL(source, root), 'utf8'))
  if (current !== page) await writeFile(new URL(path, root), current)
}
console.log(`${files.size} files written`)
