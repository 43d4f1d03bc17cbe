// The software bill of materials of the published package, CycloneDX 1.6. Made of the lock file and of what the bundler put in, so it names
// neither what is only installed for development nor what was left out. No time and no random id: the same release gives the same text.
import { createHash } from 'node:crypto'
import type { Manifest } from './manifest.ts'
import type { Component } from './contents.ts'

/** pkg:npm/%40scope/name@version (package-url, type npm), without the version where nobody says it. */
export const purlOf = (name: string, version?: string): string =>
  `pkg:npm/${name.replace('@', '%40')}${version === undefined ? '' : `@${encodeURIComponent(version)}`}`

/** As CycloneDX has it: one licence by its id of SPDX, several as an expression. */
export const licensesOf = (license: string) =>
  /^[\w.-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }]

function describe({ name, version, license, integrity, kind, holds }: Component) {
  return {
    type: kind === 'data' ? 'data' : 'library',
    'bom-ref': purlOf(name, version),
    ...splitScope(name),
    version,
    scope: 'required',
    hashes: [
      { alg: 'SHA-512', content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex') },
    ],
    licenses: licensesOf(license),
    purl: purlOf(name, version),
    ...(holds.length > 0 && {
      components: holds.map((held) => ({
        type: 'library',
        'bom-ref': `${purlOf(name, version)}#${held.name}`,
        ...splitScope(held.name),
        ...(held.version !== undefined && { version: held.version }),
        licenses: licensesOf(held.license),
        purl: purlOf(held.name, held.version),
      })),
    }),
  }
}

function splitScope(name: string): { group?: string; name: string } {
  const [scope, rest] = name.split('/')
  return rest === undefined ? { name } : { group: scope ?? '', name: rest }
}

/** The text of sbom.cdx.json. */
export function describeBom(manifest: Manifest, components: readonly Component[]): string {
  const root = purlOf(manifest.name, manifest.version)
  const refOf = new Map(
    components.flatMap(({ folder, alsoIn = [], name, version }) =>
      [folder, ...alsoIn].map((place) => [place, purlOf(name, version)] as const),
    ),
  )
  const direct = components.filter(
    ({ name, folder }) => folder === `node_modules/${name}` && isDirect(manifest, name),
  )
  return writeBom({
    metadata: {
      component: {
        type: 'application',
        'bom-ref': root,
        name: manifest.name,
        version: manifest.version,
        description: manifest.description,
        licenses: licensesOf(manifest.license),
        purl: root,
      },
    },
    components: components.map(describe),
    dependencies: [
      { ref: root, dependsOn: direct.map(({ name, version }) => purlOf(name, version)) },
      ...components.map(({ name, version, dependsOn }) => ({
        ref: purlOf(name, version),
        dependsOn: [...new Set(dependsOn.map((folder) => refOf.get(folder) ?? ''))].sort(),
      })),
    ],
  })
}

/** The text of a bill with this content, and with a serial number that is made of it. */
export function writeBom(content: {
  readonly metadata: object
  readonly components: readonly object[]
  readonly dependencies: readonly object[]
}): string {
  const [format, rest] = [
    { bomFormat: 'CycloneDX', specVersion: '1.6' },
    { version: 1, ...content },
  ]
  const serialNumber = serialOf(JSON.stringify({ ...format, ...rest }))
  return `${JSON.stringify({ ...format, serialNumber, ...rest }, undefined, 2)}\n`
}

/** What the gateway itself asks for; everything else is asked for by one of those, or is data that a script made a file of. */
const isDirect = ({ dependencies, devDependencies }: Manifest, name: string) =>
  name in dependencies || name in devDependencies

/** A UUID made of the content (RFC 9562, version 8). */
function serialOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
