// There is no Helm where these tests run. The templates hold values in places of values and one list of variables, and nothing else, so that they
// can be filled in here: with the chart's own values they are the objects of the Kustomize base.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const deploy = new URL('../../../deploy/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, deploy), 'utf8')
const chart = 'helm/agent-gateway/'
const templates = readdirSync(new URL(`${chart}templates/`, deploy))
const values = parse(read(`${chart}values.yaml`)) as Record<string, unknown>
const ours = [...readdirSync(new URL('kubernetes/base/', deploy))].filter(
  // The namespace and the list of files are of Kustomize.
  (name) => !['kustomization.yaml', 'namespace.yaml'].includes(name),
)

function valueAt(path: string): string | number {
  const value = path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], values)
  if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`values.yaml has no ${path}`)
  return value
}
const used = new Set<string>()
const RANGE =
  /\s*\{\{- range \$name, \$value := \.Values\.(\w+) \}\}([^{}]*\{\{ \$name \}\}: )\{\{ \$value \| quote \}\}\s*\{\{- end \}\}/g
const filled = (text: string, given: Record<string, Record<string, string>> = {}) =>
  text
    .replaceAll(RANGE, (_, path: string, before: string) => {
      used.add(path)
      return Object.entries(given[path] ?? (values[path] as object))
        .map(([name, value]) => before.replace('{{ $name }}', name) + JSON.stringify(value))
        .join('')
    })
    .replaceAll(/\{\{ \.Values\.([\w.]+) \}\}/g, (_, path: string) => {
      used.add(path)
      return String(valueAt(path))
    })

describe('the chart', () => {
  it('has a template for each object of the base', () => {
    expect(templates.toSorted()).toEqual(ours.toSorted())
  })

  it.each(templates)('%s is the object of the base', (name) => {
    const text = filled(read(`${chart}templates/${name}`))
    expect(text).not.toContain('{{')
    const base = read(`kubernetes/base/${name}`).replaceAll(
      /image: agent-gateway$/gm,
      `image: ${valueAt('image')}`,
    )
    expect(parse(text, { version: '1.1' })).toEqual(parse(base, { version: '1.1' }))
  })

  it('gives the gateway further settings, as text', () => {
    const name = 'settings.yaml'
    const settings = {
      GATEWAY_PAY_TO: '0x0000000000000000000000000000000000000001',
      GATEWAY_RATE_LIMIT: '10000000',
    }
    const object = parse(filled(read(`${chart}templates/${name}`), { settings })) as { data: object }
    const base = parse(read(`kubernetes/base/${name}`)) as { data: object }
    expect(object).toEqual({ ...base, data: { ...base.data, ...settings } })
  })

  it('has no value that no template takes', () => {
    const leaves = (object: object, before = ''): string[] =>
      Object.entries(object).flatMap(([name, value]: [string, unknown]) =>
        typeof value === 'object' && value !== null && Object.keys(value).length > 0
          ? leaves(value, `${before}${name}.`)
          : [before + name],
      )
    expect(leaves(values).toSorted()).toEqual([...used].toSorted())
  })
})

describe('the release', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', deploy), 'utf8')) as {
    version: string
  }

  it.each([
    ['compose/gateway.yaml', `agent-gateway:${version}\n`],
    ['compose/postgres.yaml', `agent-gateway:${version}\n`],
    ['kubernetes/base/kustomization.yaml', `newTag: ${version}\n`],
    ['helm/agent-gateway/Chart.yaml', `appVersion: ${version}\n`],
    ['helm/agent-gateway/values.yaml', `agent-gateway:${version}\n`],
  ])('of %s is that of package.json', (path, line) => {
    expect(read(path)).toContain(line)
  })
})
