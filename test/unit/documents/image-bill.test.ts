import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { describe, expect, it } from 'vitest'
import { describeImage, readDebianPackage } from '../../../deploy/image/bill.ts'
import { describeBom } from '../../../deploy/package/sbom.ts'
import { readManifest } from '../../../deploy/package/manifest.ts'

const LIBC = `Package: libc6
Source: glibc
Version: 2.41-12+deb13u5
Architecture: amd64
Description: GNU C Library: Shared libraries
 Version: of nothing, a line that goes on
`

describe('a package of Debian', () => {
  it('is read from its fields, and not from the lines of one that goes on', () => {
    expect(readDebianPackage(LIBC)).toEqual({
      name: 'libc6',
      version: '2.41-12+deb13u5',
      architecture: 'amd64',
      source: 'glibc',
    })
    expect(readDebianPackage('Package: a\nSource: b (1:2-3)\nVersion: 1\nArchitecture: all\n').source).toBe(
      'b',
    )
    expect(readDebianPackage('Package: a\nVersion: 1\nArchitecture: all\n').source).toBeUndefined()
  })

  it('is none where a field is missing', () => {
    expect(() => readDebianPackage(LIBC.replace(/^Version/m, 'Revision'))).toThrow('no package of Debian')
  })
})

it('the bill of the image is valid, the same each time, and every dependency is a part of it', async () => {
  const manifest = await readManifest()
  const describeIt = () =>
    describeImage({
      manifest,
      release: '13',
      debian: [readDebianPackage(LIBC)],
      versions: { node: '24.21.0', openssl: '3.5.7', modules: '137' },
      packageBom: describeBom(manifest, []),
    })
  const text = describeIt()
  expect(describeIt()).toBe(text)
  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
  const bom = JSON.parse(text) as {
    metadata: { component: { 'bom-ref': string } }
    components: { 'bom-ref': string; purl?: string; components?: { name: string }[] }[]
    dependencies: { ref: string; dependsOn: string[] }[]
  }
  const refs = new Set([bom.metadata.component, ...bom.components].map((one) => one['bom-ref']))
  for (const { ref, dependsOn } of bom.dependencies)
    for (const one of [ref, ...dependsOn]) expect(refs).toContain(one)
  expect(bom.components.map(({ purl }) => purl)).toEqual([
    undefined,
    'pkg:deb/debian/libc6@2.41-12%2Bdeb13u5?arch=amd64&distro=debian-13&upstream=glibc',
    'pkg:generic/node@24.21.0',
    `pkg:npm/agent-gateway@${manifest.version}`,
  ])
  expect(bom.components[2]?.components).toEqual([expect.objectContaining({ name: 'openssl' })])
})
