// What names the text of a document, in the audit log and in the history of policies. Two processes may read one text differently, as releases
// do, or where one of them goes on with the last valid version: its digest is the same for both.
import { hash } from 'node:crypto'

/** base64url SHA-256 of the text in UTF-8. */
export const digestText = (text: string): string => hash('sha256', text, 'base64url')
