// Opens a PDF with pdf.js: nothing in it is run, drawn or loaded from anywhere. What it says about itself decides whether it is read.
import type { PDFDocumentProxy, PDFPageProxy } from 'unpdf/pdfjs'
import { type PdfReason, refusePdf } from './refusals.ts'

export type { PDFDocumentProxy, PDFPageProxy }

/** More pages than any document of 2 MiB that people read has; each of them costs, however empty it is. */
export const MAX_PAGES = 2000
/** The bit of the permissions that lets text be taken out (ISO 32000-1, table 22). */
const MAY_COPY = 0x10

export type Opened =
  | {
      readonly ok: true
      readonly pdf: PDFDocumentProxy
      /** A font of what was read so far has its characters in a map that is not in the file. */
      readonly lacksMap: () => boolean
    }
  | ReturnType<typeof refusePdf>

/** @param body is copied: the library keeps what it is given */
export async function openPdf(body: Uint8Array): Promise<Opened> {
  // Only who reads a PDF pays for the library.
  const { getDocument, VerbosityLevel } = await import('unpdf/pdfjs')
  let lacksMap = false
  const task = getDocument({
    data: new Uint8Array(body),
    verbosity: VerbosityLevel.ERRORS,
    // Nothing is loaded, be it from a disk or a network: the shapes of fonts are not missed, but their characters are.
    BinaryDataFactory: class {
      async fetch({ kind }: { readonly kind: string }): Promise<never> {
        lacksMap ||= kind === 'cMapUrl'
        throw new Error('nothing is loaded')
      }
    },
    useWorkerFetch: false,
    useSystemFonts: false,
    disableFontFace: true,
    useWasm: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    maxImageSize: 1,
    disableRange: true,
    disableStream: true,
    disableAutoFetch: true,
  })
  let pdf: PDFDocumentProxy
  try {
    pdf = await task.promise
  } catch (thrown) {
    return refusePdf(
      (thrown as { name?: unknown }).name === 'PasswordException' ? 'pdf_encrypted' : 'pdf_malformed',
    )
  }
  const refused = await findObstacle(pdf)
  return refused ? refusePdf(refused) : { ok: true, pdf, lacksMap: () => lacksMap }
}

async function findObstacle(pdf: PDFDocumentProxy): Promise<PdfReason | undefined> {
  if (pdf.numPages > MAX_PAGES) return 'pdf_too_many_pages'
  const permissions = await pdf.getPermissions()
  if (permissions && !permissions.includes(MAY_COPY)) return 'pdf_encrypted'
  const { info } = await pdf.getMetadata()
  const facts = info as { IsXFAPresent?: boolean; IsCollectionPresent?: boolean }
  // Scripts of a single field only check what is typed into it; those of the document change what it shows.
  if (facts.IsXFAPresent || (await pdf.getJSActions())) return 'pdf_active'
  if (facts.IsCollectionPresent || (await pdf.getAttachments())) return 'pdf_attachments'
  return undefined
}
