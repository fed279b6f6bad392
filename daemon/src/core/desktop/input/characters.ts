/** Converts between characters and keysyms, with the keysyms that layouts still use from before Unicode. */

/**
 * Keysyms of single alphabets, from the comments of `keysymdef.h`. Each record is the first keysym and the code points
 * of this keysym and the ones after it, all hexadecimal.
 */
const records = `
1a1 0104 02d8 0141; 1a5 013d 015a; 1a9 0160 015e 0164 0179; 1ae 017d 017b; 1b1 0105 02db 0142; 1b5 013e 015b 02c7
1b9 0161 015f 0165 017a 02dd 017e 017c 0154; 1c3 0102; 1c5 0139 0106; 1c8 010c; 1ca 0118; 1cc 011a
1cf 010e 0110 0143 0147; 1d5 0150; 1d8 0158 016e; 1db 0170; 1de 0162; 1e0 0155; 1e3 0103; 1e5 013a 0107; 1e8 010d
1ea 0119; 1ec 011b; 1ef 010f 0111 0144 0148; 1f5 0151; 1f8 0159 016f; 1fb 0171; 1fe 0163 02d9; 2a1 0126; 2a6 0124
2a9 0130; 2ab 011e 0134; 2b1 0127; 2b6 0125; 2b9 0131; 2bb 011f 0135; 2c5 010a 0108; 2d5 0120; 2d8 011c; 2dd 016c 015c
2e5 010b 0109; 2f5 0121; 2f8 011d; 2fd 016d 015d; 3a2 0138 0156; 3a5 0128 013b; 3aa 0112 0122 0166; 3b3 0157
3b5 0129 013c; 3ba 0113 0123 0167 014a; 3bf 014b 0100; 3c7 012e; 3cc 0116; 3cf 012a; 3d1 0145 014c 0136; 3d9 0172
3dd 0168 016a; 3e0 0101; 3e7 012f; 3ec 0117; 3ef 012b; 3f1 0146 014d 0137; 3f9 0173; 3fd 0169 016b; 47e 203e
4a1 3002 300c 300d 3001 30fb 30f2 30a1 30a3 30a5 30a7 30a9 30e3 30e5 30e7 30c3 30fc 30a2 30a4 30a6 30a8 30aa 30ab
4b7 30ad 30af 30b1 30b3 30b5 30b7 30b9 30bb 30bd 30bf 30c1 30c4 30c6 30c8 30ca 30cb 30cc 30cd 30ce 30cf 30d2 30d5
4cd 30d8 30db 30de 30df 30e0 30e1 30e2 30e4 30e6 30e8 30e9 30ea 30eb 30ec 30ed 30ef 30f3 309b 309c; 5ac 060c; 5bb 061b
5bf 061f
5c1 0621 0622 0623 0624 0625 0626 0627 0628 0629 062a 062b 062c 062d 062e 062f 0630 0631 0632 0633 0634 0635 0636
5d7 0637 0638 0639 063a
5e0 0640 0641 0642 0643 0644 0645 0646 0647 0648 0649 064a 064b 064c 064d 064e 064f 0650 0651 0652
6a1 0452 0453 0451 0454 0455 0456 0457 0458 0459 045a 045b 045c 0491 045e 045f 2116 0402 0403 0401 0404 0405 0406
6b7 0407 0408 0409 040a 040b 040c 0490 040e 040f 044e 0430 0431 0446 0434 0435 0444 0433 0445 0438 0439 043a 043b
6cd 043c 043d 043e 043f 044f 0440 0441 0442 0443 0436 0432 044c 044b 0437 0448 044d 0449 0447 044a 042e 0410 0411
6e3 0426 0414 0415 0424 0413 0425 0418 0419 041a 041b 041c 041d 041e 041f 042f 0420 0421 0422 0423 0416 0412 042c
6f9 042b 0417 0428 042d 0429 0427 042a; 7a1 0386 0388 0389 038a 03aa; 7a7 038c 038e 03ab; 7ab 038f; 7ae 0385 2015
7b1 03ac 03ad 03ae 03af 03ca 0390 03cc 03cd 03cb 03b0 03ce
7c1 0391 0392 0393 0394 0395 0396 0397 0398 0399 039a 039b 039c 039d 039e 039f 03a0 03a1 03a3
7d4 03a4 03a5 03a6 03a7 03a8 03a9
7e1 03b1 03b2 03b3 03b4 03b5 03b6 03b7 03b8 03b9 03ba 03bb 03bc 03bd 03be 03bf 03c0 03c1 03c3 03c2 03c4 03c5 03c6
7f7 03c7 03c8 03c9; aa1 2003 2002 2004 2005 2007 2008 2009 200a 2014 2013; aac 2423
aae 2026 2025 2153 2154 2155 2156 2157 2158 2159 215a 2105; abb 2012 2329 002e 232a; ac3 215b 215c 215d 215e
ac9 2122 2613; acc 25c1 25b7 25cb 25af 2018 2019 201c 201d 211e 2030 2032 2033; ad9 271d
adb 25ac 25c0 25b6 25cf 25ae 25e6 25ab 25ad 25b3 25bd 2606 2022 25aa 25b2 25bc 261c 261e 2663 2666 2665
af0 2720 2020 2021 2713 2717 266f 266d 2642 2640 260e 2315 2117 2038 201a 201e; ba3 003c; ba6 003e; ba8 2228 2227
bc0 00af; bc2 22a4 2229 230a; bc6 005f; bca 2218; bcc 2395; bce 22a5 25cb; bd3 2308; bd6 222a; bd8 2283; bda 2282
bdc 22a3; bfc 22a2
cdf 2017 05d0 05d1 05d2 05d3 05d4 05d5 05d6 05d7 05d8 05d9 05da 05db 05dc 05dd 05de 05df 05e0 05e1 05e2 05e3 05e4
cf5 05e5 05e6 05e7 05e8 05e9 05ea
da1 0e01 0e02 0e03 0e04 0e05 0e06 0e07 0e08 0e09 0e0a 0e0b 0e0c 0e0d 0e0e 0e0f 0e10 0e11 0e12 0e13 0e14 0e15 0e16
db7 0e17 0e18 0e19 0e1a 0e1b 0e1c 0e1d 0e1e 0e1f 0e20 0e21 0e22 0e23 0e24 0e25 0e26 0e27 0e28 0e29 0e2a 0e2b 0e2c
dcd 0e2d 0e2e 0e2f 0e30 0e31 0e32 0e33 0e34 0e35 0e36 0e37 0e38 0e39 0e3a
ddf 0e3f 0e40 0e41 0e42 0e43 0e44 0e45 0e46 0e47 0e48 0e49 0e4a 0e4b 0e4c 0e4d
df0 0e50 0e51 0e52 0e53 0e54 0e55 0e56 0e57 0e58 0e59
ea1 3131 3132 3133 3134 3135 3136 3137 3138 3139 313a 313b 313c 313d 313e 313f 3140 3141 3142 3143 3144 3145 3146
eb7 3147 3148 3149 314a 314b 314c 314d 314e 314f 3150 3151 3152 3153 3154 3155 3156 3157 3158 3159 315a 315b 315c
ecd 315d 315e 315f 3160 3161 3162 3163 11a8 11a9 11aa 11ab 11ac 11ad 11ae 11af 11b0 11b1 11b2 11b3 11b4 11b5 11b6
ee3 11b7 11b8 11b9 11ba 11bb 11bc 11bd 11be 11bf 11c0 11c1 11c2 316d 3171 3178 317f 3181 3184 3186 318d 318e 11eb
ef9 11f0 11f9; eff 20a9; 13bc 0152 0153 0178; 20ac 20ac
`;

/** A keysym of a character is this bit and the code point, except below U+0100, where it is the code point. */
const unicodeBit = 0x0100_0000;

interface Alphabets {
  readonly byKeysym: ReadonlyMap<number, string>;
  readonly byCharacter: ReadonlyMap<string, readonly number[]>;
}

const alphabets = readAlphabets();

/** All keysyms that produce the character, the usual one first. Control characters have none. */
export function keysymsOfCharacter(character: string): readonly number[] {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return [];
  if (code < 0x100) return [code, unicodeBit | code];
  return [...(alphabets.byCharacter.get(character) ?? []), unicodeBit | code];
}

/** Null for a keysym that produces no character. */
export function characterOfKeysym(keysym: number): string | null {
  if ((keysym >= 0x20 && keysym < 0x7f) || (keysym >= 0xa0 && keysym < 0x100)) return String.fromCodePoint(keysym);
  const code = keysym - unicodeBit;
  if (code >= 0x20 && code <= 0x10_ffff) return String.fromCodePoint(code);
  return alphabets.byKeysym.get(keysym) ?? null;
}

function readAlphabets(): Alphabets {
  const byKeysym = new Map<number, string>();
  const byCharacter = new Map<string, number[]>();
  for (const record of records.trim().split(/; |\n/)) {
    const [first = 0, ...codes] = record.split(' ').map((text) => Number.parseInt(text, 16));
    for (const [index, code] of codes.entries()) {
      const character = String.fromCodePoint(code);
      byKeysym.set(first + index, character);
      byCharacter.set(character, [...(byCharacter.get(character) ?? []), first + index]);
    }
  }
  return { byKeysym, byCharacter };
}
