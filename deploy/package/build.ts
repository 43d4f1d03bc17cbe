// `npm run bundle`: makes the folder that is published, build/package, and packs it. Everything in it is made of this repository and of what
// its lock file names; nothing is downloaded.
import { execFileSync } from 'node:child_process'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle, LOOKED_FOR, type Manifest, readManifest, ROOT } from './bundle.ts'

const BUILD = join(ROOT, 'build')
const PACKAGE = join(BUILD, 'package')

/** Copied as they are, beside the code where it looks for them. */
const COPIES: readonly (readonly [from: string, to: string])[] = [
  ['dist/site', 'dist/site'],
  ['src/data/files', 'dist'],
  ['skills', 'skills'],
  ['schemas/json', 'schemas/json'],
  ['agent.txt', 'agent.txt'],
  ['README.md', 'README.md'],
  ['CHANGELOG.md', 'CHANGELOG.md'],
  ['LICENSE', 'LICENSE'],
]

/** The package.json of the published package: nothing is installed with it, since its code holds what it needs. */
function publishedManifest(manifest: Manifest): object {
  const { name, mcpName, version, description, license, keywords, homepage, repository, engines } = manifest
  const all = { ...manifest.peerDependencies, ...manifest.optionalDependencies }
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
    // Optional peers, not optional dependencies: npm would install those for everybody, 20 MB and an install script.
    peerDependencies: Object.fromEntries(LOOKED_FOR.map((looked) => [looked, all[looked]])),
    peerDependenciesMeta: Object.fromEntries(LOOKED_FOR.map((looked) => [looked, { optional: true }])),
  }
}

const manifest = await readManifest()
await rm(BUILD, { recursive: true, force: true })
await mkdir(PACKAGE, { recursive: true })
await bundle(manifest, join(PACKAGE, 'dist'))
for (const [from, to] of COPIES) await cp(join(ROOT, from), join(PACKAGE, to), { recursive: true })
await writeFile(
  join(PACKAGE, 'package.json'),
  `${JSON.stringify(publishedManifest(manifest), undefined, 2)}\n`,
)
execFileSync('npm', ['pack', PACKAGE, '--pack-destination', BUILD], {
  cwd: BUILD,
  stdio: ['ignore', 'ignore', 'inherit'],
})
console.log(`build/package, and ${manifest.name}-${manifest.version}.tgz beside it`)
