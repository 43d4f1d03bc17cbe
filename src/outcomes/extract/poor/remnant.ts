// Tells what is left of a page of which the content is missing: a line of copyright, links to the top, names of menus.
import type { Said } from './lines.ts'

const MAX_WORDS = 30

/** Whole lines, once the years, the names of owners and the marks between them are taken away. */
const FURNITURE = new RegExp(
  `^(?:${[
    '(?:back to |return to )?top(?: of (?:the )?page)?|menu|home|about(?: us)?|contact(?: us)?|search|close|share(?: this)?|facebook|twitter|instagram|linkedin|email|print|skip to (?:main )?content',
    'privacy(?: policy)?|terms(?: (?:of use|of service|and conditions|& conditions))?|cookies?(?: policy| settings)?|legal(?: notice)?|imprint|sitemap|accessibility|log ?in|sign ?in|sign ?up|register',
    '(?:©|\\(c\\)|copyright).{0,80}|.{0,40}all rights reserved|powered by .{1,40}',
    'impressum|datenschutz(?:erklärung)?|nach oben|startseite|kontakt|.{0,40}alle rechte vorbehalten',
    'mentions légales|haut de page|accueil|.{0,40}tous droits réservés',
    'aviso legal|volver arriba|inicio|contacto|.{0,40}todos los derechos reservados',
    '.{0,40}جميع الحقوق محفوظة.{0,40}|أعلى الصفحة|版权所有.{0,40}|返回顶部|ページ(?:の先頭|トップ)へ(?:戻る)?|.{0,40}все права защищены|наверх',
  ].join('|')})[\\s.!|·•]*$`,
  'u',
)

/** True where nothing remained but furniture; a page of one word of its own is a page. */
export function isRemnant({ lines, around, words }: Said): boolean {
  if (words > MAX_WORDS) return false
  if (lines.length === 0) return words === 0 && around.length > 0 && around.every(isFurniture)
  return lines.every(isFurniture)
}

/** A line of copyright, a link to the top, names of menus. */
export const isFurniture = (line: string): boolean =>
  FURNITURE.test(line) ||
  line.split(/\s*[|·•]\s*|\s{2,}/).every((part) => part === '' || FURNITURE.test(part)) ||
  isMenu(line)

/** Links behind each other are one line, as in a menu that is no list. */
const isMenu = (line: string) =>
  line.split(' ').length <= 12 && line.split(' ').every((word) => FURNITURE.test(word))
