// Why a PDF is nothing to sell, and what to do about each: the words of the coverage.
import type { SourceReason } from '../../../schemas/sources.ts'

export const PDF_DETAILS = {
  pdf_without_text:
    'The pages of this PDF are pictures without a text layer, and no text is recognised in pictures. Send an HTML version, or a PDF whose text can be selected.',
  pdf_text_unmapped:
    'The fonts of this PDF do not say which characters they show, so its text cannot be read. Send an HTML version, or another copy of the document.',
  pdf_encrypted:
    'This PDF asks for a password, or its owner does not permit to copy from it. Send a copy without protection.',
  pdf_truncated:
    'This PDF is longer than the 2 MiB that are read of a source, and its table of contents stands at its end. Send a smaller PDF, or an HTML version.',
  pdf_malformed: 'This is no PDF that can be read: it is damaged or incomplete. Send another copy.',
  pdf_too_many_pages:
    'This PDF has more pages than are read of one source (2,000). Send a part of it, or an HTML version.',
  pdf_too_complex:
    'Reading this PDF takes more time or memory than a source may take. Send a smaller PDF, or an HTML version.',
  pdf_active:
    'This PDF runs scripts or is a form that only its own program draws; nothing in it is run. Send an HTML version, or a copy without scripts.',
  pdf_attachments:
    'This PDF carries other files inside it, which are not read. Send the address of the document itself, or a copy without attachments.',
} as const satisfies Partial<Record<SourceReason, string>>

export type PdfReason = keyof typeof PDF_DETAILS

/** The refusal, as readings have it. */
export const refusePdf = (reason: PdfReason) => ({ ok: false, reason, detail: PDF_DETAILS[reason] }) as const
