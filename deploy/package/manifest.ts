// package.json of the repository, from which everything that names this program is derived. It imports no package: a release is checked before
// any is installed.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What package.json says of this program; the published one is derived from it. */
export interface Manifest {
  readonly name: string
  readonly mcpName: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly keywords: readonly string[]
  readonly homepage: string
  readonly repository: { readonly type: string; readonly url: string }
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly tsup: { readonly entry: Readonly<Record<string, string>>; readonly target: string }
}

export const readManifest = async (): Promise<Manifest> =>
  JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')) as Manifest

/** The page of the repository, from the address that npm wants. */
export const repositoryUrl = ({ repository }: Pick<Manifest, 'repository'>): string =>
  repository.url.replace(/^git\+/, '').replace(/\.git$/, '')

/** Where a release keeps a file. */
export const releaseFile = (manifest: Manifest, file: string): string =>
  `${repositoryUrl(manifest)}/releases/download/v${manifest.version}/${file}`
