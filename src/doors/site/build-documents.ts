// What `npm run build` does with the written documents: the guides, the changelog and the examples go beside the scripts of the site, since
// an installed gateway has no `docs/`. `index.json` there lists them.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DocumentEntry } from './documents.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Folders of the repository, and which of their files are pages. */
const SOURCES = [
  { folder: '.', files: /^(?:README|CHANGELOG|SECURITY|CONTRIBUTING)\.md$/ },
  { folder: 'docs', files: /^(?!README\.).*\.md$/ },
  { folder: 'docs/guides', files: /\.md$/ },
  { folder: 'docs/design', files: /\.md$/ },
  { folder: 'deploy', files: /^README\.md$/ },
  { folder: 'deploy/monitoring', files: /^README\.md$/ },
  { folder: 'examples', files: /\.(?:md|ts|py)$/ },
  { folder: 'examples/frameworks', files: /\.(?:ts|py)$/ },
] as const

/** Names that say more in an address than the file's own. */
const SLUGS: Readonly<Record<string, string>> = {
  'README.md': 'start',
  'SECURITY.md': 'report-a-weakness',
  'deploy/README.md': 'deploy',
  'deploy/monitoring/README.md': 'monitoring',
  'examples/README.md': 'examples',
  'docs/outcomes.md': 'outcomes-compared',
}

/** Titles of the repository's first files, which say nothing among others. */
const TITLES: Readonly<Record<string, string>> = {
  'README.md': 'Start here',
  'SECURITY.md': 'Report a weakness',
  'deploy/README.md': 'Images and manifests',
  'deploy/monitoring/README.md': 'Dashboard and alerts',
}

/** @param out folder of the built site */
export async function buildDocuments(out: string): Promise<void> {
  const folder = join(out, 'docs')
  await mkdir(folder, { recursive: true })
  const purposes = purposesOf(await readFile(join(root, 'docs/README.md'), 'utf8'))
  const entries: DocumentEntry[] = []
  for (const { folder: from, files } of SOURCES)
    for (const name of (await readdir(join(root, from))).filter((name) => files.test(name)).sort()) {
      const source = from === '.' ? name : `${from}/${name}`
      const text = await readFile(join(root, source), 'utf8')
      const page = name.endsWith('.md') ? withoutComments(text) : programPage(source, text)
      const slug = slugOf(source)
      const { title, summary } = introductionOf(page)
      entries.push({ slug, source, title: TITLES[source] ?? title, summary: purposes.get(source) ?? summary })
      await writeFile(join(folder, `${slug}.md`), page)
    }
  await writeFile(join(folder, 'index.json'), JSON.stringify(entries, undefined, 2))
}

function slugOf(source: string): string {
  const name = basename(source)
    .replace(/\.\w+$/, '')
    .toLowerCase()
    .replaceAll('_', '-')
  if (source in SLUGS) return SLUGS[source] ?? name
  if (!dirname(source).startsWith('examples')) return name
  return ['example', ...dirname(source).split('/').slice(1), name].join('-')
}

/** Notes for whoever edits a file, each in lines of its own; code blocks have none that begin a line so. */
const withoutComments = (text: string) => text.replaceAll(/^<!--[^]*?-->\n/gm, '')

/** A program as a page: what its first comment says, and the program. */
function programPage(source: string, text: string): string {
  const [comment = ''] = /^(?:(?:\/\/|#) ?.*\n)+/.exec(text) ?? []
  const [run = '', ...words] = comment.split('\n').map((line) => line.replace(/^(?:\/\/|#) ?/, ''))
  const language = source.endsWith('.py') ? 'python' : 'ts'
  return `# ${source.replace(/^examples\//, '')}\n\n${words.join(' ').trim()}\n\n\`\`\`sh\n${run}\n\`\`\`\n\n\`\`\`${language}\n${text.slice(comment.length).trim()}\n\`\`\`\n`
}

/** `docs/README.md` says in a table what each document is read for. */
const purposesOf = (index: string): ReadonlyMap<string, string> =>
  new Map(
    [...index.matchAll(/^\| \[[^\]]+\]\(([^)]+)\) \| (.+?)(?: \(generated\))? \|$/gm)].map(
      ([, path = '', words = '']) => [
        posix.join('docs', path),
        `${words.charAt(0).toUpperCase()}${words.slice(1)}.`,
      ],
    ),
  )

/** The title and the first sentence, without marks. */
function introductionOf(page: string): Pick<DocumentEntry, 'title' | 'summary'> {
  const [, title = ''] = /^# (.+)$/m.exec(page) ?? []
  const [, first = ''] = /^# .+\n+((?:[^\n#|`-].*\n?)+)/m.exec(page) ?? []
  const words = first
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const [sentence = words] = /^.*?[.:](?= |$)/.exec(words) ?? []
  return { title, summary: sentence.replace(/:$/, '.') }
}
