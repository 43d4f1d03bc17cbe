// `npm run bundle [folder]`: makes everything that a release publishes, in build/ unless another folder is named. It is made of this repository
// and of what its lock file names; nothing is downloaded.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Metafile } from 'esbuild'
import { bundle } from './bundle.ts'
import { dataFolders, foldersIn, readComponents } from './contents.ts'
import { describeLicences } from './licences.ts'
import { type Manifest, readManifest, ROOT } from './manifest.ts'
import { packMcpb } from './mcpb.ts'
import { describeBom } from './sbom.ts'
import { describeServer } from './server-json.ts'

/** Copied as they are, beside the code where it looks for them. */
const COPIES: readonly (readonly [from: string, to: string])[] = [
  ['dist/site', 'dist/site'],
  ['src/data/files', 'dist'],
  ['skills', 'skills'],
  ['agent.txt', 'agent.txt'],
  ['README.md', 'README.md'],
  ['CHANGELOG.md', 'CHANGELOG.md'],
  ['LICENSE', 'LICENSE'],
]

/**
 * The package.json of the published package: nothing is installed with it, since its code holds what it needs. What it looks for and does
 * without is not even named: npm installs optional dependencies for everybody, and asks the registry for each optional peer, for seconds.
 */
function publishedManifest(manifest: Manifest): object {
  const { name, mcpName, version, description, license, keywords, homepage, repository, engines } = manifest
  return {
    name,
    mcpName,
    version,
    description,
    license,
    keywords,
    homepage,
    repository,
    type: 'module',
    engines,
    bin: { 'agent-gateway': 'dist/launcher.js' },
    // npm refuses to publish this from anywhere but a continuous integration that proves what it was made of.
    publishConfig: { access: 'public', provenance: true },
  }
}

const write = (folder: string, name: string, content: object | string) =>
  writeFile(
    join(folder, name),
    typeof content === 'string' ? content : `${JSON.stringify(content, undefined, 2)}\n`,
  )

const digestOf = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex')

const manifest = await readManifest()
const out = resolve(ROOT, process.argv[2] ?? 'build')
const folder = join(out, 'package')
const stem = `${manifest.name}-${manifest.version}`
const [tarball, mcpb, bom] = [`${stem}.tgz`, `${stem}.mcpb`, `${stem}.cdx.json`]

await rm(out, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
const metafile = await bundle(manifest, join(folder, 'dist'))
for (const [from, to] of COPIES) await cp(join(ROOT, from), join(folder, to), { recursive: true })
const browsers = JSON.parse(await readFile(join(ROOT, 'dist/site-metafile.json'), 'utf8')) as Metafile
const components = readComponents(new Set([...foldersIn(metafile), ...foldersIn(browsers)]), dataFolders())
await write(folder, 'package.json', publishedManifest(manifest))
await write(folder, 'THIRD-PARTY-LICENSES.txt', describeLicences(components))
await write(folder, 'sbom.cdx.json', describeBom(manifest, components))
execFileSync('npm', ['pack', folder, '--pack-destination', out], {
  cwd: out,
  stdio: ['ignore', 'ignore', 'inherit'],
})

const extension = join(out, 'extension')
await cp(folder, extension, { recursive: true })
await packMcpb(manifest, extension, join(out, mcpb))
await rm(extension, { recursive: true })
await write(out, bom, await readFile(join(folder, 'sbom.cdx.json'), 'utf8'))
await write(
  out,
  'server.json',
  describeServer(manifest, { file: mcpb, sha256: await digestOf(join(out, mcpb)) }),
)
const sums = [tarball, mcpb, bom, 'server.json'].map(
  async (file) => `${await digestOf(join(out, file))}  ${file}\n`,
)
await write(out, 'SHA256SUMS', (await Promise.all(sums)).join(''))
console.log(
  `${out}: package/, ${tarball}, ${mcpb}, ${bom}, server.json, SHA256SUMS; ${components.length} packages in it`,
)
