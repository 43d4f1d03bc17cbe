import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ANVIL_PINS, ANVIL_VERSION } from '../../../src/sandbox/anvil-pins.ts'

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')) as never
const { packages } = read('package-lock.json') as {
  packages: Record<string, { version: string; integrity: string } | undefined>
}
const { optionalDependencies } = read('package.json') as { optionalDependencies: Record<string, string> }

it('the node that is installed later is the one that comes with `npm ci`', () => {
  expect(ANVIL_VERSION).toBe(optionalDependencies['@foundry-rs/anvil'])
  const locked = Object.values(ANVIL_PINS).flatMap(({ name, integrity }) => {
    const entry = packages[`node_modules/${name}`]
    return entry === undefined ? [] : [{ entry, integrity }]
  })
  expect(locked).not.toEqual([])
  for (const { entry, integrity } of locked)
    expect({ version: entry.version, integrity: entry.integrity }).toEqual({
      version: ANVIL_VERSION,
      integrity,
    })
})

it('every package of it has a whole digest', () => {
  for (const [platform, { name, integrity }] of Object.entries(ANVIL_PINS)) {
    expect(platform).toMatch(/^(?:linux|darwin|win32)-(?:x64|arm64)$/)
    expect(name).toMatch(/^@foundry-rs\/anvil-(?:linux|darwin|win32)-(?:amd64|arm64)$/)
    expect(Buffer.from(integrity.replace('sha512-', ''), 'base64')).toHaveLength(64)
  }
})
