import { existsSync, globSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { configurationVariables } from '../../../src/app/documented-variables.ts'
import { generatedFiles } from '../../../src/documents/generated.ts'
import { withSources } from '../../../src/documents/pages.ts'
import { metricRows } from '../../../src/telemetry/instruments.ts'
import { tools } from '../../../tools/index.ts'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const variables = configurationVariables()
const files = generatedFiles({
  tools,
  variables,
  metrics: metricRows(),
  bench: JSON.parse(read('bench/results.json')),
  chaos: JSON.parse(read('chaos/results.json')),
})
const pages = globSync(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md'], { cwd: root.pathname })

it.each([...files])('%s is what `npm run generate` writes', async (path, text) => {
  expect(await readFile(new URL(path, root), 'utf8')).toBe(text)
})

it('no schema of a tool that is gone is left', async () => {
  const left = (await readdir(new URL('schemas/json/', root))).map((name) => `schemas/json/${name}`)
  expect(left.filter((path) => !files.has(path))).toEqual([])
})

it('every file of tools/ is in the list of tools/index.ts', () => {
  const listed = new Set(read('tools/index.ts').match(/(?<=from '\.\/)[^']+/g))
  const helpers = ['index.ts', 'services.ts', 'example-mandate.ts']
  const written = globSync('*.ts', { cwd: new URL('tools/', root).pathname })
  expect(written.filter((name) => !listed.has(name) && !helpers.includes(name))).toEqual([])
})

it('the page of tools has a row for each', () => {
  expect(files.get('docs/tools.md')).toContain('| `gateway.egress.fetch` |')
})

describe('the page of configuration', () => {
  it('explains every variable that the gateway reads, and no other', () => {
    const source = read('src/app/config.ts') + read('src/app/variables.ts')
    const hooks = ['GATEWAY_FAULT']
    const named = new Set(source.match(/\bGATEWAY_[A-Z_]+[A-Z]\b/g))
    const explained = new Set(variables.map(({ name }) => name))
    expect([...named].filter((name) => !explained.has(name) && !hooks.includes(name))).toEqual([])
    for (const { description } of variables) expect(description).not.toBe('')
  })

  it('shows the defaults that a start without variables has', () => {
    const config = loadConfig({})
    const shown = (name: string) => variables.find((variable) => variable.name === name)?.default
    expect(shown('PORT')).toBe(`\`${config.port}\``)
    expect(shown('GATEWAY_SERVICE_KEY_CREDITS')).toBe(`\`${config.serviceKeyCredits}\``)
    expect(shown('GATEWAY_CREDIT_PRICE_ATOMIC')).toBe(`\`${config.creditPriceAtomic}\``)
    expect(shown('GATEWAY_UNSAFE_PUBLIC_SANDBOX')).toBe('`0`')
  })
})

describe('code blocks', () => {
  it.each(pages)('%s shows its sources as they are', (path) => {
    expect(withSources(read(path), read)).toBe(read(path))
  })

  it('of a program or of configuration come from a file that runs, everywhere', () => {
    const unmarked = pages.flatMap((path) =>
      [...read(path).matchAll(/(<!-- from \S+ -->\n)?```(?:ts|js|py|python|json|toml)\n[^]*?\n```/g)]
        .filter(([, marker]) => marker === undefined)
        .map(([block]) => `${path}: ${block.slice(0, 80)}`),
    )
    expect(unmarked).toEqual([])
  })

  it('are taken from a file or from a region of it', () => {
    const source = 'a\n// #region x\nb\n// #endregion\n'
    const page = (marker: string) => `<!-- from ${marker} -->\n\`\`\`ts\nold\n\`\`\`\n`
    expect(withSources(page('f.ts'), () => 'new\n')).toBe(page('f.ts').replace('old', 'new'))
    expect(withSources(page('f.ts#x'), () => source)).toBe(page('f.ts#x').replace('old', 'b'))
    expect(withSources(page('f.ts'), () => source)).toBe(page('f.ts').replace('old', 'a\nb'))
    const empty = page('f.ts').replace('old\n', '')
    expect(withSources(`${empty}text\n${empty}`, () => 'new')).toBe(
      `${page('f.ts')}text\n${page('f.ts')}`.replaceAll('old', 'new'),
    )
    expect(() => withSources(page('f.ts#y'), () => source)).toThrow('f.ts has no region y')
  })
})

describe('links and paths', () => {
  const inText = (page: string, pattern: RegExp) => [...page.matchAll(pattern)].map(([, found]) => found!)

  it.each([...pages, 'examples/README.md', 'SECURITY.md', 'CHANGELOG.md'])(
    'of %s lead to files that exist',
    (path) => {
      const page = read(path).replaceAll(/```[^]*?\n```/g, '')
      const links = inText(page, /\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g).map(
        (link) => new URL(link, new URL(path, root)),
      )
      const named = inText(
        page,
        /`((?:src|test|docs|examples|bench|chaos)\/[\w./-]+|tools\/[\w-]+\.ts)`/g,
      ).map((name) => new URL(name, root))
      const missing = [...links, ...named].filter((url) => !existsSync(url)).map(({ pathname }) => pathname)
      expect(missing).toEqual([])
    },
  )
})

it('the README is one screen', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150)
})
