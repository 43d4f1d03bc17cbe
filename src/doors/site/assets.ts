// The built files of the site: scripts of its islands, its style sheet, pictures. `npm run build` writes them with the digest of their
// content in their names, so that browsers keep them; `manifest.json` beside them says which name means which file.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fixDocument, type FixedDocument } from '../http/document.ts'

export interface Assets {
  /** Public name of a built file, such as `site.css`. @throws {Error} for one that was not built */
  fileOf(name: string): string
  /** The bytes of a file under its public name. */
  read(file: string): Promise<Buffer>
  /** The file under its public name, ready to be sent; undefined where there is none. */
  find(file: string): Promise<FixedDocument | undefined>
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/png',
  woff2: 'font/woff2',
}

/** Beside the bundle where this runs from one, else where the build of the sources lies. */
export const BUILT = import.meta.url.endsWith('.ts')
  ? fileURLToPath(new URL('../../../dist/site/', import.meta.url))
  : fileURLToPath(new URL('./site/', import.meta.url))

/** @throws {Error} that says what to run where the site was not built */
export async function openAssets(folder: string = BUILT): Promise<Assets> {
  const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch((cause: unknown) => {
    throw new Error('the files of the site are missing: run `npm run build`', { cause })
  })
  const manifest = JSON.parse(text) as Readonly<Record<string, string>>
  const names = new Map(Object.entries(manifest))
  const files = new Set(names.values())
  const opened = new Map<string, Promise<FixedDocument>>()

  async function open(file: string): Promise<FixedDocument> {
    const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    const bytes = await readFile(join(folder, file))
    const br = await readFile(join(folder, `${file}.br`)).catch(() => undefined)
    return fixDocument(bytes, {
      type,
      headers: {
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
      },
      ...(br && { br }),
    })
  }

  return {
    fileOf(name) {
      const file = names.get(name)
      if (file === undefined) throw new Error(`the site has no built file ${name}`)
      return file
    },
    read: (file) => readFile(join(folder, file)),
    async find(file) {
      // Only names of the manifest are opened: a path in the name cannot lead elsewhere.
      if (!files.has(file)) return undefined
      const known = opened.get(file) ?? open(file)
      opened.set(file, known)
      return known
    },
  }
}
