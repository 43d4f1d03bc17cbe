// How an operator gets the client of a key service: one version and one command, wherever it is told.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { KEY_SERVICE_PACKAGES } from '../../../src/egress/adapters/key-services/open.ts'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const { peerDependencies, allowScripts } = JSON.parse(read('package.json')) as {
  peerDependencies: Record<string, string>
  allowScripts: Record<string, boolean>
}

it('advises the versions that package.json names, and lets the one that is compiled be compiled', () => {
  expect(KEY_SERVICE_PACKAGES).toEqual(peerDependencies)
  expect(allowScripts['pkcs11js']).toBe(true)
})

it('has commands in the guide that bring those alone: no development package, and nothing of another version', () => {
  const commands = [...read('docs/operating.md').matchAll(/`npm install --no-save ([^`]*)`/g)].map(
    ([, args]) => args!.split(' '),
  )
  const specs = Object.entries(peerDependencies).map(([name, version]) => `${name}@${version}`)
  const options = ['--save-prod', '--omit=dev', '--omit=optional']
  for (const args of commands) expect(args.slice(0, 3)).toEqual(options)
  expect(commands.flatMap((args) => args.slice(3)).toSorted()).toEqual(specs.toSorted())
})
