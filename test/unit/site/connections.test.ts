// The lines that connect a client: which addresses they hold, and what is said where they cannot work.
import { render } from 'preact-render-to-string'
import { h } from 'preact'
import { describe, expect, it } from 'vitest'
import { Link } from '../../../src/doors/site/components/link.tsx'
import { connectionsTo } from '../../../src/doors/site/connections.ts'

const local = { baseUrl: 'http://127.0.0.1:8402', mcpUrl: 'http://127.0.0.1:8402/mcp' }
const open = { baseUrl: 'https://gateway.example.com', mcpUrl: 'https://mcp.example.com/mcp' }
const byId = (addresses: typeof local) =>
  Object.fromEntries(connectionsTo(addresses).map((connection) => [connection.id, connection]))

describe('connection lines', () => {
  it('are there for nine clients, each with an address of this gateway', () => {
    const all = connectionsTo(open)
    expect(all.map(({ name }) => name)).toEqual([
      'Claude Code',
      'Claude Desktop',
      'ChatGPT',
      'Codex',
      'Cursor',
      'VS Code',
      'Gemini CLI',
      'A2A',
      'curl',
    ])
    for (const { id, lines } of all)
      expect(lines.map(({ text }) => text).join('\n'), id).toMatch(/https:\/\/(?:mcp|gateway)\.example\.com/)
  })

  it('say what a client on the internet cannot reach, and give Claude Desktop a program to start instead', () => {
    const [here, there] = [byId(local), byId(open)]
    expect([here['chatgpt']?.note, there['chatgpt']?.note]).toEqual(['notPublic', undefined])
    expect(here['claude-desktop']?.lines[0]?.text).toContain('launcher.js')
    for (const id of ['claude-desktop', 'chatgpt'])
      expect(there[id]?.lines.map(({ text }) => text)).toEqual([
        'https://mcp.example.com/mcp',
        'https://mcp.example.com/mcp/connect',
      ])
  })

  it('hold JSON that parses, and links that open a program with the same address', () => {
    const { cursor, vscode } = byId(local)
    const [, config = ''] = /config=(.*)$/.exec(cursor?.opens ?? '') ?? []
    expect(JSON.parse(atob(decodeURIComponent(config)))).toEqual({ url: local.mcpUrl })
    const [, query = ''] = (vscode?.opens ?? '').split('?')
    expect(JSON.parse(decodeURIComponent(query))).toMatchObject({ type: 'http', url: local.mcpUrl })
    const files = connectionsTo(local).flatMap(({ lines }) =>
      lines.filter(({ where }) => where?.endsWith('.json')),
    )
    expect(files.length).toBe(4)
    for (const { text } of files) expect(text).toBe(JSON.stringify(JSON.parse(text), undefined, 2))
  })
})

describe('a link that starts a program', () => {
  const draw = (props: Omit<Parameters<typeof Link>[0], 'children'>) => render(h(Link, props, 'open'))
  const opens = byId(local)['cursor']?.opens ?? ''

  it('is one where we wrote it', () =>
    expect(draw({ to: opens, opensProgram: true })).toContain('<a href="cursor:'))

  it.each([
    ['a stranger wrote it', { to: opens, isForeign: true, opensProgram: true }],
    ['nobody said that we wrote it', { to: opens }],
    ['it does something else', { to: 'vscode://file/etc/passwd', opensProgram: true }],
    ['it runs', { to: 'javascript:alert(1)', opensProgram: true }],
  ])('is none where %s', (_, props) => expect(draw(props)).not.toContain('<a'))
})
