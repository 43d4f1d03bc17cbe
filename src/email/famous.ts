// Domains with few mailboxes and a big name that are spelled almost like a provider: whoever types one of them means it.
//
// The first ten are what the typo rules took for a slip in two sources, run whole: the ten thousand sites that most others
// link to (Majestic Million, CC BY 3.0, as the warning list of MISP has it under CC0 1.0, version 20231002), and `common.json` of the
// package email-providers 2.26.0 (ISC). Rankings by DNS questions are no source: they have gmial.com and gmai.com among their
// first hundred thousand, because so many people mistype. The others are companies and carriers, looked at one by one.

export const FAMOUS: readonly string[] = (
  'amc.com goal.com hotair.com hotmart.com levi.com nate.com onelook.com qcloud.com rover.com ymaws.com ' +
  'cloud.com gaia.com hicloud.com homair.com ibmcloud.com inetia.pl infox.ru narvar.com navan.com nuvei.com pcloud.com ' +
  'tele2.net telia.net yazio.com yonex.com youmail.com'
).split(' ')
