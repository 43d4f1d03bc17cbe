// What a start and the doctor say of native signers that are not there.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeMissingSigners, NATIVE_SIGNERS } from '../../../src/app/native-signers.ts'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const [sodium, secp256k1] = NATIVE_SIGNERS
const without = (signer = sodium!) => ({ ...signer, isThere: () => false })

it('says nothing where they are there, as they are on the machines that they are built for', () => {
  expect(describeMissingSigners()).toBeUndefined()
  expect(describeMissingSigners(NATIVE_SIGNERS, true)).toBeUndefined()
})

it('names what is missing, what it costs, and how a checkout gets it', () => {
  const said = describeMissingSigners([without(), secp256k1!], false)!
  expect(said).toMatch(/^sodium-native is not installed: signatures are the same, and /)
  expect(said).toContain(sodium!.without)
  expect(said).not.toContain('secp256k1')
  expect(said).toMatch(/ To have it, npm ci --include=optional$/)
})

it('names both, with the versions that are installed beside the package', () => {
  const said = describeMissingSigners([without(), without(secp256k1)], true)!
  expect(said).toMatch(/^sodium-native and secp256k1 are not installed: /)
  for (const signer of NATIVE_SIGNERS) expect(said).toContain(signer.without)
  expect(said).toMatch(/npm install --global sodium-native@5\.1\.0 secp256k1@5\.0\.2$/)
})

it('has the versions of the manifest and of the documentation', () => {
  const { optionalDependencies } = JSON.parse(read('package.json')) as {
    optionalDependencies: Record<string, string>
  }
  const [line = ''] = read('docs/operating.md').match(/^- \*\*Faster signatures\*\*.*$/m) ?? []
  for (const { spec } of NATIVE_SIGNERS) {
    const [name = '', version] = spec.split('@')
    expect(optionalDependencies[name]).toBe(version)
    expect(line).toContain(`\`${spec}\``)
  }
})
