// `npm run build`, second half: what browsers load. Scripts and the style sheet are bundled, pictures are copied, each gets the digest of its
// content in its name and its brotli form beside it, and `manifest.json` says which name means which file.
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { build } from 'esbuild'
import { buildDocuments } from './build-documents.ts'
import { buildPictures } from './build-pictures.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const out = fileURLToPath(new URL('../../../dist/site/', import.meta.url))
const manifest: Record<string, string> = {}

/** Writes a file under its public name. */
async function publish(
  name: string,
  content: Uint8Array,
  file: string = hashedName(name, content),
): Promise<void> {
  manifest[name] = file
  await writeFile(join(out, file), content)
  if (!/\.(?:js|css|svg)$/.test(file)) return
  const br = await promisify(brotliCompress)(content, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  })
  await writeFile(join(out, `${file}.br`), br)
}

const hashedName = (name: string, content: Uint8Array) => {
  const digest = createHash('sha256').update(content).digest('base64url').replaceAll(/[-_]/g, '').slice(0, 10)
  return `${basename(name, extname(name))}-${digest}${extname(name)}`
}

async function buildScripts(): Promise<void> {
  // Names of the console's begin with `console-`: both share one folder, and the parts that their scripts share.
  const folders = [join(here, 'browser'), join(here, '../console/browser')]
  const entries = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder)).filter((name) => /\.tsx?$/.test(name)).map((name) => join(folder, name)),
    ),
  )
  const { outputFiles, metafile } = await build({
    entryPoints: entries.flat(),
    outdir: out,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    metafile: true,
    write: false,
  })
  // What of which package browsers load: the list of a release's contents is made of it.
  await writeFile(join(out, '../site-metafile.json'), JSON.stringify(metafile))
  const sources = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint }]) => [basename(path), entryPoint]),
  )
  for (const { path, contents } of outputFiles) {
    const file = basename(path)
    // What is loaded later has a source, too, whose name may be that of an island: the page would load the part, which mounts nothing.
    const entry = file.startsWith('part-') ? undefined : sources.get(file)
    await publish(entry === undefined ? file : `${basename(entry, extname(entry))}.js`, contents, file)
  }
}

async function buildStyles(name: string, from: string): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [join(here, from)],
    bundle: true,
    minify: true,
    target: ['chrome123', 'firefox120', 'safari17.5'],
    write: false,
  })
  for (const { contents } of outputFiles) await publish(name, contents)
}

await rm(out, { recursive: true, force: true })
await mkdir(out, { recursive: true })
await Promise.all([
  buildScripts(),
  buildStyles('site.css', 'styles/index.css'),
  buildStyles('console.css', '../console/styles/index.css'),
  buildDocuments(out),
  buildPictures(publish),
])
await writeFile(join(out, 'manifest.json'), JSON.stringify(manifest, undefined, 2))
