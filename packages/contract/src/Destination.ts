// Where a number leads, by its digits (ITU-T E.164; NANPA area codes): the country, for lists of countries that may be
// called, and whether it is one that costs extra or is no telephone at all. A prefix, never a proof.
import { isE164 } from "./PhoneNumber.ts"

/** ISO 3166-1 alpha-2 of an E.164 number; undefined for networks of no country, and for what is no number. */
export const countryOf = (number: string): string | undefined => {
  if (!isE164(number)) return undefined
  const digits = number.slice(1)
  if (digits.startsWith("1")) return northAmerican(digits.slice(1, 4))
  if (/^7[67]/.test(digits)) return "KZ"
  for (let length = 3; length >= 1; length--) {
    const country = byCode.get(digits.slice(0, length))
    if (country !== undefined) return country
  }
  return undefined
}

/** Premium rate, personal and shared-cost numbers, satellite and international networks. */
export const isPremium = (number: string): boolean => {
  const digits = number.replace(/^\+/, "")
  return digits.startsWith("1")
    ? /^1(?:900|500|5(?:22|33|44|66|77|88)|700|710)/.test(digits) || /^1\d{3}(?:976|[2-9]11)\d{4}$/.test(digits)
    : premium.some((prefix) => digits.startsWith(prefix))
}

const northAmerican = (area: string): string => {
  for (const [country, areas] of islands) if (areas.includes(area)) return country
  return canada.includes(area) ? "CA" : "US"
}

const words = (list: string): ReadonlyArray<string> => list.trim().split(/\s+/)

const canada = words(`204 226 236 249 250 257 263 289 306 343 354 365 367 368 382 403 416 418 428 431 437 438 450 460
  468 474 506 514 519 548 579 581 584 587 604 613 639 647 672 683 705 709 742 753 778 780 782 807 819 825 867 873 879
  902 905 942`)

/** Others that share the code 1. */
const islands: ReadonlyArray<readonly [country: string, areas: ReadonlyArray<string>]> = words(
  `AG:268 AI:264 AS:684 BB:246 BM:441 BS:242 DM:767 DO:809,829,849 GD:473 GU:671 JM:658,876 KN:869 KY:345 LC:758
  MP:670 MS:664 PR:787,939 SX:721 TC:649 TT:868 VC:784 VG:284 VI:340`
).map((entry) => {
  const [country = "", areas = ""] = entry.split(":")
  return [country, areas.split(",")]
})

const byCode: ReadonlyMap<string, string> = new Map(
  words(`7:RU 20:EG 27:ZA 30:GR 31:NL 32:BE 33:FR 34:ES 36:HU 39:IT 40:RO 41:CH 43:AT 44:GB 45:DK 46:SE 47:NO 48:PL
  49:DE 51:PE 52:MX 53:CU 54:AR 55:BR 56:CL 57:CO 58:VE 60:MY 61:AU 62:ID 63:PH 64:NZ 65:SG 66:TH 81:JP 82:KR 84:VN
  86:CN 90:TR 91:IN 92:PK 93:AF 94:LK 95:MM 98:IR 211:SS 212:MA 213:DZ 216:TN 218:LY 220:GM 221:SN 222:MR 223:ML 224:GN
  225:CI 226:BF 227:NE 228:TG 229:BJ 230:MU 231:LR 232:SL 233:GH 234:NG 235:TD 236:CF 237:CM 238:CV 239:ST 240:GQ
  241:GA 242:CG 243:CD 244:AO 245:GW 246:IO 247:AC 248:SC 249:SD 250:RW 251:ET 252:SO 253:DJ 254:KE 255:TZ 256:UG 257:BI
  258:MZ 260:ZM 261:MG 262:RE 263:ZW 264:NA 265:MW 266:LS 267:BW 268:SZ 269:KM 290:SH 291:ER 297:AW 298:FO 299:GL
  350:GI 351:PT 352:LU 353:IE 354:IS 355:AL 356:MT 357:CY 358:FI 359:BG 370:LT 371:LV 372:EE 373:MD 374:AM 375:BY
  376:AD 377:MC 378:SM 380:UA 381:RS 382:ME 383:XK 385:HR 386:SI 387:BA 389:MK 420:CZ 421:SK 423:LI 500:FK 501:BZ
  502:GT 503:SV 504:HN 505:NI 506:CR 507:PA 508:PM 509:HT 590:GP 591:BO 592:GY 593:EC 594:GF 595:PY 596:MQ 597:SR
  598:UY 599:CW 670:TL 672:NF 673:BN 674:NR 675:PG 676:TO 677:SB 678:VU 679:FJ 680:PW 681:WF 682:CK 683:NU 685:WS 686:KI
  687:NC 688:TV 689:PF 690:TK 691:FM 692:MH 850:KP 852:HK 853:MO 855:KH 856:LA 880:BD 886:TW 960:MV 961:LB 962:JO
  963:SY 964:IQ 965:KW 966:SA 967:YE 968:OM 970:PS 971:AE 972:IL 973:BH 974:QA 975:BT 976:MN 977:NP 992:TJ 993:TM
  994:AZ 995:GE 996:KG 998:UZ`).map((entry): [string, string] => {
    const [code = "", country = ""] = entry.split(":")
    return [code, country]
  })
)

/** Without the code 1. */
const premium = words(`4470 4484 4487 449 44118 49118 49137 49180 49190 49900 3381 3382 3389 33118 34803 34806 34807
  34901 34902 34905 39144 39166 39178 39199 39892 39894 39895 39899 41900 41901 41906 43900 43901 43930 43931 43939
  31900 31906 31909 3290 4590 46900 46939 46944 4782 4870 35160 351707 351760 35315 358600 358700 6119 64900 81990
  2786 55900 52900 7803 7809 90900 800 808 870 878 881 882 883 888 979`)
