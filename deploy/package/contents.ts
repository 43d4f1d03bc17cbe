// Which packages the published one holds copies of: what the bundler says went in, joined with the lock file that says what that is.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { readListFile } from '../../src/email/list-file.ts'
import type { Contracts } from '../../src/sandbox/contracts.ts'
import { ROOT } from './manifest.ts'

/** A package that another one holds whole, of which the lock file knows nothing. */
export interface Held {
  readonly name: string
  /** Left out where the holder does not say it. */
  readonly version?: string
  readonly license: string
  /** Whose it is, where the holder has no file with the words of its licence. */
  readonly author?: string
}

/** A package of which code or data is in the published one. */
export interface Component {
  readonly name: string
  readonly version: string
  /** SPDX expression, as its own manifest has it. */
  readonly license: string
  /** Subresource Integrity of its tarball, sha512. */
  readonly integrity: string
  readonly kind: 'code' | 'data'
  /** Where it lies, relative to the repository: its key in the lock file. */
  readonly folder: string
  /** Other folders with the same package. */
  readonly alsoIn?: readonly string[]
  readonly holds: readonly Held[]
  /** Folders of the components that it asks for. */
  readonly dependsOn: readonly string[]
}

interface Locked {
  readonly version: string
  readonly integrity: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** By package and version, so that a new version has somebody look. */
const HOLDERS: Readonly<Record<string, Readonly<Record<string, readonly Held[]>>>> = {
  undici: {
    '8.12.4': [
      { name: 'llhttp', license: 'MIT', author: 'Fedor Indutny, 2018' },
      { name: '@perseveranza-pets/milo', version: '0.9.0', license: 'ISC' },
    ],
  },
  unpdf: {
    '1.8.1': [
      { name: 'pdfjs-dist', version: '6.1.200', license: 'Apache-2.0', author: 'Mozilla Foundation' },
    ],
  },
}

const IN_PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/

/** Files of packages that a bundle has bytes of, by the folder of their package. */
export function foldersIn(metafile: Pick<Metafile, 'outputs'>): Set<string> {
  const folders = new Set<string>()
  for (const { inputs } of Object.values(metafile.outputs))
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = bytesInOutput > 0 ? IN_PACKAGE.exec(path)?.[0] : undefined
      if (folder !== undefined) folders.add(folder)
    }
  return folders
}

/** Packages that the files of src/data/files say they are made of. */
export function dataFolders(): Set<string> {
  const read = (name: string) => readFileSync(join(ROOT, 'src/data/files', name), 'utf8')
  const { origins } = readListFile(read('email-domains.txt'))
  const contracts = JSON.parse(read('sandbox-contracts.json')) as Contracts
  return new Set([...origins, ...contracts.origins].map(({ name }) => `node_modules/${name.split(' ')[0]}`))
}

/**
 * @param code folders of packages whose code is in the bundle
 * @param data folders of packages whose data is beside it
 * @returns the components, by name and version @throws {Error} for a package that is not in the lock file, or says no licence
 */
export function readComponents(code: ReadonlySet<string>, data: ReadonlySet<string>): readonly Component[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked | undefined>>
  }
  const folders = new Set([...code, ...data])
  const all = [...folders]
    .map((folder): Component => {
      const locked = packages[folder]
      if (locked === undefined) throw new Error(`${folder} is in the bundle and not in package-lock.json`)
      const { name, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
        name: string
        license?: unknown
      }
      if (typeof license !== 'string') throw new Error(`${folder} says no licence as an SPDX expression`)
      const holds = HOLDERS[name]?.[locked.version]
      if (name in HOLDERS && holds === undefined)
        throw new Error(`${name} ${locked.version}: look up what it holds a copy of, and add it to HOLDERS`)
      const asks = { ...locked.dependencies, ...locked.peerDependencies, ...locked.optionalDependencies }
      return {
        name,
        version: locked.version,
        license,
        integrity: locked.integrity,
        kind: code.has(folder) ? 'code' : 'data',
        folder,
        holds: holds ?? [],
        dependsOn: Object.keys(asks).flatMap((asked) => findFrom(folder, asked, folders) ?? []),
      }
    })
    .sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
  // npm may have put the same version into several folders: it is one package.
  return [...Map.groupBy(all, ({ name, version }) => `${name} ${version}`).values()].map(mergeCopies)
}

function mergeCopies(copies: readonly Component[]): Component {
  const [first, ...rest] = copies
  if (first === undefined) throw new Error('a group of packages is empty')
  return {
    ...first,
    kind: copies.some(({ kind }) => kind === 'code') ? 'code' : 'data',
    alsoIn: rest.map(({ folder }) => folder),
    dependsOn: [...new Set(copies.flatMap(({ dependsOn }) => dependsOn))],
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Where Node finds a package from the one in a folder, innermost first. */
function findFrom(folder: string, name: string, among: ReadonlySet<string>): string | undefined {
  for (let from = folder; ; from = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')))) {
    const place = `${from === '' ? '' : `${from}/`}node_modules/${name}`
    if (among.has(place)) return place
    if (from === '') return undefined
  }
}
