// Blocks -> Markdown. Page text is escaped, so that nothing a page says turns into markup, HTML or a link of its own.
import type { Block, Run } from './blocks.ts'

/**
 * @param resolve address of a link as it may be written out; undefined drops the link and keeps its text
 * @param maxCharacters ends behind the block that goes over it: the caller cuts
 */
export function toMarkdown(
  blocks: readonly Block[],
  resolve: (href: string) => string | undefined,
  maxCharacters = Infinity,
): string {
  let markdown = ''
  let before: Block['kind'] | undefined
  for (const block of blocks) {
    if (markdown.length > maxCharacters) break
    const piece = renderBlock(block, resolve)
    if (piece === '') continue
    markdown += before === undefined ? '' : before === 'item' && block.kind === 'item' ? '\n' : '\n\n'
    markdown += piece
    before = block.kind
  }
  return markdown
}

function renderBlock(block: Block, resolve: (href: string) => string | undefined): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${renderRuns(block.runs, resolve).replaceAll('\n', ' ')}`
    case 'paragraph':
      return escapeLineStarts(renderRuns(block.runs, resolve))
    case 'quote':
      return escapeLineStarts(renderRuns(block.runs, resolve)).replace(/^/gm, '> ')
    case 'item': {
      const mark = block.ordinal === null ? '-' : `${block.ordinal}.`
      const body = escapeLineStarts(renderRuns(block.runs, resolve)).replaceAll('\n', ' ')
      return `${'  '.repeat(block.depth)}${mark} ${body}`
    }
    case 'code': {
      const fence = '`'.repeat(Math.max(3, longestRun(block.text, /`+/g) + 1))
      return `${fence}\n${block.text}\n${fence}`
    }
    case 'table': {
      const { caption, header, rows } = block.table
      const width = rows.reduce((most, row) => Math.max(most, row.length), header.length)
      const line = (cells: readonly string[]) =>
        `| ${Array.from({ length: width }, (_, i) => escapeText(cells[i] ?? '').replaceAll('|', '\\|')).join(' | ')} |`
      const lines = [line(header), `|${' --- |'.repeat(width)}`, ...rows.map(line)]
      return (caption === null ? '' : `${escapeLineStarts(escapeText(caption))}\n\n`) + lines.join('\n')
    }
  }
}

function renderRuns(runs: readonly Run[], resolve: (href: string) => string | undefined): string {
  return runs
    .map((run) => {
      const body = run.text.trim()
      if (body === '') return run.text
      let text = run.code ? codeSpan(body) : escapeText(body)
      if (run.emphasis && !run.code) text = `*${text}*`
      if (run.strong && !run.code) text = `**${text}**`
      const url = run.href === undefined ? undefined : resolve(run.href)
      if (url !== undefined)
        text = `[${text.replaceAll('\n', ' ')}](<${url.replace(/[<>\s\\]/g, encodeURIComponent)}>)`
      const start = run.text.indexOf(body)
      return run.text.slice(0, start) + text + run.text.slice(start + body.length)
    })
    .join('')
}

/** The engine keeps a note of forty bytes about every match until all are replaced: two million of them are a page's memory. */
const ESCAPED_AT_ONCE = 32 * 1024

function escapeText(text: string): string {
  let escaped = ''
  for (let at = 0; at < text.length; at += ESCAPED_AT_ONCE)
    escaped += text.slice(at, at + ESCAPED_AT_ONCE).replace(/[\\`*_[\]<>&~]/g, '\\$&')
  return escaped
}

const escapeLineStarts = (text: string) =>
  text.replace(/^(\s{0,3})([#+\-=>|]|\d{1,9}(?=[.)]))/gm, (_, space: string, mark: string) =>
    /\d/.test(mark) ? `${space}${mark}\\` : `${space}\\${mark}`,
  )

function codeSpan(text: string): string {
  const fence = '`'.repeat(longestRun(text, /`+/g) + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${text.replaceAll('\n', ' ')}${pad}${fence}`
}

const longestRun = (text: string, pattern: RegExp) =>
  (text.match(pattern) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0)
