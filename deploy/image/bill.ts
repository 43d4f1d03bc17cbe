// The software bill of materials of the image, CycloneDX 1.6: Debian's packages, Node with what it is built of, and all that the bill of the
// npm package names. No time and no random id: the same image gives the same text.
import type { Manifest } from '../package/manifest.ts'
import { licensesOf, writeBom } from '../package/sbom.ts'

/** As `dpkg-deb --field` writes it: a field a line, and lines that go on begin with a blank. */
export interface DebianPackage {
  readonly name: string
  readonly version: string
  readonly architecture: string
  /** The source package that it is built from, where that has another name: notices of faults name that one. */
  readonly source: string | undefined
}

/** @throws {Error} where a field is missing that every package has */
export function readDebianPackage(paragraph: string): DebianPackage {
  const field = (name: string) => new RegExp(`^${name}: *(.+)$`, 'm').exec(paragraph)?.[1]
  const [name, version, architecture] = ['Package', 'Version', 'Architecture'].map(field)
  if (name === undefined || version === undefined || architecture === undefined)
    throw new Error(`no package of Debian: ${paragraph.slice(0, 200)}`)
  // `glibc (2.41-1)`, where its version is another one, too.
  return { name, version, architecture, source: field('Source')?.split(' ')[0] }
}

/** pkg:deb/debian/name@version?…, qualifiers in the order of their names (package-url, type deb). */
function debianPurl({ name, version, architecture, source }: DebianPackage, release: string): string {
  const upstream = source === undefined ? '' : `&upstream=${encodeURIComponent(source)}`
  return `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-${release}${upstream}`
}

/** Of `process.versions`: what these count is an interface or a list of data, and no library. */
const NO_LIBRARIES = new Set(['node', 'modules', 'napi', 'cldr', 'tz', 'unicode'])

export interface ImageParts {
  readonly manifest: Manifest
  /** Number of the release of Debian: `13`. */
  readonly release: string
  readonly debian: readonly DebianPackage[]
  /** `process.versions` of the Node that is in the image. */
  readonly versions: Readonly<Record<string, string>>
  /** The text of the bill of the npm package. */
  readonly packageBom: string
}

interface Bom {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } }
  readonly components: readonly object[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** The text of the bill of the image. */
export function describeImage({ manifest, release, debian, versions, packageBom }: ImageParts): string {
  const root = `pkg:oci/${manifest.name}@${manifest.version}`
  const system = `debian-${release}`
  const inner = JSON.parse(packageBom) as Bom
  const { component: app } = inner.metadata
  const node = `pkg:generic/node@${versions['node'] ?? ''}`
  const packages = debian.map((one) => ({ ...one, purl: debianPurl(one, release) }))
  return writeBom({
    metadata: {
      component: {
        type: 'container',
        'bom-ref': root,
        name: manifest.name,
        version: manifest.version,
        description: manifest.description,
        licenses: licensesOf(manifest.license),
      },
    },
    components: [
      { type: 'operating-system', 'bom-ref': system, name: 'debian', version: release },
      ...packages.map(({ name, version, purl }) => ({
        type: 'library',
        'bom-ref': purl,
        name,
        version,
        purl,
      })),
      {
        type: 'application',
        'bom-ref': node,
        name: 'node',
        version: versions['node'],
        licenses: licensesOf('MIT'),
        cpe: `cpe:2.3:a:nodejs:node.js:${versions['node'] ?? ''}:*:*:*:*:*:*:*`,
        purl: node,
        components: Object.entries(versions)
          .filter(([name]) => !NO_LIBRARIES.has(name))
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, version]) => ({
            type: 'library',
            'bom-ref': `${node}#${name}`,
            name,
            version,
            purl: `pkg:generic/${encodeURIComponent(name)}@${encodeURIComponent(version)}`,
          })),
      },
      app,
      ...inner.components,
    ],
    dependencies: [
      { ref: root, dependsOn: [system, node, app['bom-ref']] },
      { ref: system, dependsOn: packages.map(({ purl }) => purl).toSorted() },
      { ref: node, dependsOn: [system] },
      ...inner.dependencies,
    ],
  })
}

/** The name of its file among what a release publishes. */
export const bomName = ({ name, version }: Pick<Manifest, 'name' | 'version'>): string =>
  `${name}-${version}.image.cdx.json`
