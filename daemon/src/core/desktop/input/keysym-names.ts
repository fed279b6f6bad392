/** The names of keysyms as the headers of the X Window System list them (`keysymdef.h`, `XF86keysym.h`). */

/** Each record is the first keysym in hexadecimal and the names of this keysym and the ones after it. */
const records = `
20 space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk plus comma minus
2e period slash 0 1 2 3 4 5 6 7 8 9 colon semicolon less equal greater question at A B C D E F G H I J K L M N O P Q R
53 S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore grave a b c d e f g h i j k l m n o p q r
73 s t u v w x y z braceleft bar braceright asciitilde
a0 nobreakspace exclamdown cent sterling currency yen brokenbar section diaeresis copyright ordfeminine guillemotleft
ac notsign hyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered
b8 cedilla onesuperior masculine guillemotright onequarter onehalf threequarters questiondown Agrave Aacute
c2 Acircumflex Atilde Adiaeresis Aring AE Ccedilla Egrave Eacute Ecircumflex Ediaeresis Igrave Iacute Icircumflex
cf Idiaeresis ETH Ntilde Ograve Oacute Ocircumflex Otilde Odiaeresis multiply Oslash Ugrave Uacute Ucircumflex
dc Udiaeresis Yacute THORN ssharp agrave aacute acircumflex atilde adiaeresis aring ae ccedilla egrave eacute
ea ecircumflex ediaeresis igrave iacute icircumflex idiaeresis eth ntilde ograve oacute ocircumflex otilde odiaeresis
f7 division oslash ugrave uacute ucircumflex udiaeresis yacute thorn ydiaeresis; 1a1 Aogonek breve Lstroke
1a5 Lcaron Sacute; 1a9 Scaron Scedilla Tcaron Zacute; 1ae Zcaron Zabovedot; 1b1 aogonek ogonek lstroke
1b5 lcaron sacute caron; 1b9 scaron scedilla tcaron zacute doubleacute zcaron zabovedot Racute; 1c3 Abreve
1c5 Lacute Cacute; 1c8 Ccaron; 1ca Eogonek; 1cc Ecaron; 1cf Dcaron Dstroke Nacute Ncaron; 1d5 Odoubleacute
1d8 Rcaron Uring; 1db Udoubleacute; 1de Tcedilla; 1e0 racute; 1e3 abreve; 1e5 lacute cacute; 1e8 ccaron; 1ea eogonek
1ec ecaron; 1ef dcaron dstroke nacute ncaron; 1f5 odoubleacute; 1f8 rcaron uring; 1fb udoubleacute
1fe tcedilla abovedot; 2a1 Hstroke; 2a6 Hcircumflex; 2a9 Iabovedot; 2ab Gbreve Jcircumflex; 2b1 hstroke
2b6 hcircumflex; 2b9 idotless; 2bb gbreve jcircumflex; 2c5 Cabovedot Ccircumflex; 2d5 Gabovedot; 2d8 Gcircumflex
2dd Ubreve Scircumflex; 2e5 cabovedot ccircumflex; 2f5 gabovedot; 2f8 gcircumflex; 2fd ubreve scircumflex
3a2 kra Rcedilla; 3a5 Itilde Lcedilla; 3aa Emacron Gcedilla Tslash; 3b3 rcedilla; 3b5 itilde lcedilla
3ba emacron gcedilla tslash ENG; 3bf eng Amacron; 3c7 Iogonek; 3cc Eabovedot; 3cf Imacron
3d1 Ncedilla Omacron Kcedilla; 3d9 Uogonek; 3dd Utilde Umacron; 3e0 amacron; 3e7 iogonek; 3ec eabovedot; 3ef imacron
3f1 ncedilla omacron kcedilla; 3f9 uogonek; 3fd utilde umacron; 47e overline
4a1 kana_fullstop kana_openingbracket kana_closingbracket kana_comma kana_conjunctive kana_WO kana_a kana_i kana_u
4aa kana_e kana_o kana_ya kana_yu kana_yo kana_tsu prolongedsound kana_A kana_I kana_U kana_E kana_O kana_KA kana_KI
4b8 kana_KU kana_KE kana_KO kana_SA kana_SHI kana_SU kana_SE kana_SO kana_TA kana_CHI kana_TSU kana_TE kana_TO kana_NA
4c6 kana_NI kana_NU kana_NE kana_NO kana_HA kana_HI kana_FU kana_HE kana_HO kana_MA kana_MI kana_MU kana_ME kana_MO
4d4 kana_YA kana_YU kana_YO kana_RA kana_RI kana_RU kana_RE kana_RO kana_WA kana_N voicedsound semivoicedsound
5ac Arabic_comma; 5bb Arabic_semicolon; 5bf Arabic_question_mark
5c1 Arabic_hamza Arabic_maddaonalef Arabic_hamzaonalef Arabic_hamzaonwaw Arabic_hamzaunderalef Arabic_hamzaonyeh
5c7 Arabic_alef Arabic_beh Arabic_tehmarbuta Arabic_teh Arabic_theh Arabic_jeem Arabic_hah Arabic_khah Arabic_dal
5d0 Arabic_thal Arabic_ra Arabic_zain Arabic_seen Arabic_sheen Arabic_sad Arabic_dad Arabic_tah Arabic_zah Arabic_ain
5da Arabic_ghain
5e0 Arabic_tatweel Arabic_feh Arabic_qaf Arabic_kaf Arabic_lam Arabic_meem Arabic_noon Arabic_ha Arabic_waw
5e9 Arabic_alefmaksura Arabic_yeh Arabic_fathatan Arabic_dammatan Arabic_kasratan Arabic_fatha Arabic_damma
5f0 Arabic_kasra Arabic_shadda Arabic_sukun
6a1 Serbian_dje Macedonia_gje Cyrillic_io Ukrainian_ie Macedonia_dse Ukrainian_i Ukrainian_yi Cyrillic_je Cyrillic_lje
6aa Cyrillic_nje Serbian_tshe Macedonia_kje Ukrainian_ghe_with_upturn Byelorussian_shortu Cyrillic_dzhe numerosign
6b1 Serbian_DJE Macedonia_GJE Cyrillic_IO Ukrainian_IE Macedonia_DSE Ukrainian_I Ukrainian_YI Cyrillic_JE Cyrillic_LJE
6ba Cyrillic_NJE Serbian_TSHE Macedonia_KJE Ukrainian_GHE_WITH_UPTURN Byelorussian_SHORTU Cyrillic_DZHE Cyrillic_yu
6c1 Cyrillic_a Cyrillic_be Cyrillic_tse Cyrillic_de Cyrillic_ie Cyrillic_ef Cyrillic_ghe Cyrillic_ha Cyrillic_i
6ca Cyrillic_shorti Cyrillic_ka Cyrillic_el Cyrillic_em Cyrillic_en Cyrillic_o Cyrillic_pe Cyrillic_ya Cyrillic_er
6d3 Cyrillic_es Cyrillic_te Cyrillic_u Cyrillic_zhe Cyrillic_ve Cyrillic_softsign Cyrillic_yeru Cyrillic_ze
6db Cyrillic_sha Cyrillic_e Cyrillic_shcha Cyrillic_che Cyrillic_hardsign Cyrillic_YU Cyrillic_A Cyrillic_BE
6e3 Cyrillic_TSE Cyrillic_DE Cyrillic_IE Cyrillic_EF Cyrillic_GHE Cyrillic_HA Cyrillic_I Cyrillic_SHORTI Cyrillic_KA
6ec Cyrillic_EL Cyrillic_EM Cyrillic_EN Cyrillic_O Cyrillic_PE Cyrillic_YA Cyrillic_ER Cyrillic_ES Cyrillic_TE
6f5 Cyrillic_U Cyrillic_ZHE Cyrillic_VE Cyrillic_SOFTSIGN Cyrillic_YERU Cyrillic_ZE Cyrillic_SHA Cyrillic_E
6fd Cyrillic_SHCHA Cyrillic_CHE Cyrillic_HARDSIGN
7a1 Greek_ALPHAaccent Greek_EPSILONaccent Greek_ETAaccent Greek_IOTAaccent Greek_IOTAdieresis
7a7 Greek_OMICRONaccent Greek_UPSILONaccent Greek_UPSILONdieresis; 7ab Greek_OMEGAaccent
7ae Greek_accentdieresis Greek_horizbar
7b1 Greek_alphaaccent Greek_epsilonaccent Greek_etaaccent Greek_iotaaccent Greek_iotadieresis Greek_iotaaccentdieresis
7b7 Greek_omicronaccent Greek_upsilonaccent Greek_upsilondieresis Greek_upsilonaccentdieresis Greek_omegaaccent
7c1 Greek_ALPHA Greek_BETA Greek_GAMMA Greek_DELTA Greek_EPSILON Greek_ZETA Greek_ETA Greek_THETA Greek_IOTA
7ca Greek_KAPPA Greek_LAMDA Greek_MU Greek_NU Greek_XI Greek_OMICRON Greek_PI Greek_RHO Greek_SIGMA
7d4 Greek_TAU Greek_UPSILON Greek_PHI Greek_CHI Greek_PSI Greek_OMEGA
7e1 Greek_alpha Greek_beta Greek_gamma Greek_delta Greek_epsilon Greek_zeta Greek_eta Greek_theta Greek_iota
7ea Greek_kappa Greek_lamda Greek_mu Greek_nu Greek_xi Greek_omicron Greek_pi Greek_rho Greek_sigma
7f3 Greek_finalsmallsigma Greek_tau Greek_upsilon Greek_phi Greek_chi Greek_psi Greek_omega
8a1 leftradical topleftradical horizconnector topintegral botintegral vertconnector topleftsqbracket botleftsqbracket
8a9 toprightsqbracket botrightsqbracket topleftparens botleftparens toprightparens botrightparens leftmiddlecurlybrace
8b0 rightmiddlecurlybrace topleftsummation botleftsummation topvertsummationconnector botvertsummationconnector
8b5 toprightsummation botrightsummation rightmiddlesummation
8bc lessthanequal notequal greaterthanequal integral therefore variation infinity; 8c5 nabla
8c8 approximate similarequal; 8cd ifonlyif implies identical; 8d6 radical
8da includedin includes intersection union logicaland logicalor; 8ef partialderivative; 8f6 function
8fb leftarrow uparrow rightarrow downarrow; 9df blank soliddiamond checkerboard ht ff cr lf
9e8 nl vt lowrightcorner uprightcorner upleftcorner lowleftcorner crossinglines horizlinescan1 horizlinescan3
9f1 horizlinescan5 horizlinescan7 horizlinescan9 leftt rightt bott topt vertbar
aa1 emspace enspace em3space em4space digitspace punctspace thinspace hairspace emdash endash; aac signifblank
aae ellipsis doubbaselinedot onethird twothirds onefifth twofifths threefifths fourfifths onesixth fivesixths careof
abb figdash leftanglebracket decimalpoint rightanglebracket marker
ac3 oneeighth threeeighths fiveeighths seveneighths
ac9 trademark signaturemark trademarkincircle leftopentriangle rightopentriangle emopencircle emopenrectangle
ad0 leftsinglequotemark rightsinglequotemark leftdoublequotemark rightdoublequotemark prescription permille minutes
ad7 seconds
ad9 latincross hexagram filledrectbullet filledlefttribullet filledrighttribullet emfilledcircle emfilledrect
ae0 enopencircbullet enopensquarebullet openrectbullet opentribulletup opentribulletdown openstar enfilledcircbullet
ae7 enfilledsqbullet filledtribulletup filledtribulletdown leftpointer rightpointer club diamond heart
af0 maltesecross dagger doubledagger checkmark ballotcross musicalsharp musicalflat malesymbol femalesymbol telephone
afa telephonerecorder phonographcopyright caret singlelowquotemark doublelowquotemark cursor; ba3 leftcaret
ba6 rightcaret; ba8 downcaret upcaret; bc0 overbar; bc2 downtack upshoe downstile; bc6 underbar; bca jot; bcc quad
bce uptack circle; bd3 upstile; bd6 downshoe; bd8 rightshoe; bda leftshoe; bdc lefttack; bfc righttack
cdf hebrew_doublelowline hebrew_aleph hebrew_bet hebrew_gimel hebrew_dalet hebrew_he hebrew_waw hebrew_zain
ce7 hebrew_chet hebrew_tet hebrew_yod hebrew_finalkaph hebrew_kaph hebrew_lamed hebrew_finalmem hebrew_mem
cef hebrew_finalnun hebrew_nun hebrew_samech hebrew_ayin hebrew_finalpe hebrew_pe hebrew_finalzade hebrew_zade
cf7 hebrew_qoph hebrew_resh hebrew_shin hebrew_taw
da1 Thai_kokai Thai_khokhai Thai_khokhuat Thai_khokhwai Thai_khokhon Thai_khorakhang Thai_ngongu Thai_chochan
da9 Thai_choching Thai_chochang Thai_soso Thai_chochoe Thai_yoying Thai_dochada Thai_topatak Thai_thothan
db1 Thai_thonangmontho Thai_thophuthao Thai_nonen Thai_dodek Thai_totao Thai_thothung Thai_thothahan Thai_thothong
db9 Thai_nonu Thai_bobaimai Thai_popla Thai_phophung Thai_fofa Thai_phophan Thai_fofan Thai_phosamphao Thai_moma
dc2 Thai_yoyak Thai_rorua Thai_ru Thai_loling Thai_lu Thai_wowaen Thai_sosala Thai_sorusi Thai_sosua Thai_hohip
dcc Thai_lochula Thai_oang Thai_honokhuk Thai_paiyannoi Thai_saraa Thai_maihanakat Thai_saraaa Thai_saraam Thai_sarai
dd5 Thai_saraii Thai_saraue Thai_sarauee Thai_sarau Thai_sarauu Thai_phinthu
dde Thai_maihanakat_maitho Thai_baht Thai_sarae Thai_saraae Thai_sarao Thai_saraaimaimuan Thai_saraaimaimalai
de5 Thai_lakkhangyao Thai_maiyamok Thai_maitaikhu Thai_maiek Thai_maitho Thai_maitri Thai_maichattawa Thai_thanthakhat
ded Thai_nikhahit
df0 Thai_leksun Thai_leknung Thai_leksong Thai_leksam Thai_leksi Thai_lekha Thai_lekhok Thai_lekchet Thai_lekpaet
df9 Thai_lekkao
ea1 Hangul_Kiyeog Hangul_SsangKiyeog Hangul_KiyeogSios Hangul_Nieun Hangul_NieunJieuj Hangul_NieunHieuh Hangul_Dikeud
ea8 Hangul_SsangDikeud Hangul_Rieul Hangul_RieulKiyeog Hangul_RieulMieum Hangul_RieulPieub Hangul_RieulSios
eae Hangul_RieulTieut Hangul_RieulPhieuf Hangul_RieulHieuh Hangul_Mieum Hangul_Pieub Hangul_SsangPieub
eb4 Hangul_PieubSios Hangul_Sios Hangul_SsangSios Hangul_Ieung Hangul_Jieuj Hangul_SsangJieuj Hangul_Cieuc
ebb Hangul_Khieuq Hangul_Tieut Hangul_Phieuf Hangul_Hieuh Hangul_A Hangul_AE Hangul_YA Hangul_YAE Hangul_EO Hangul_E
ec5 Hangul_YEO Hangul_YE Hangul_O Hangul_WA Hangul_WAE Hangul_OE Hangul_YO Hangul_U Hangul_WEO Hangul_WE Hangul_WI
ed0 Hangul_YU Hangul_EU Hangul_YI Hangul_I Hangul_J_Kiyeog Hangul_J_SsangKiyeog Hangul_J_KiyeogSios Hangul_J_Nieun
ed8 Hangul_J_NieunJieuj Hangul_J_NieunHieuh Hangul_J_Dikeud Hangul_J_Rieul Hangul_J_RieulKiyeog Hangul_J_RieulMieum
ede Hangul_J_RieulPieub Hangul_J_RieulSios Hangul_J_RieulTieut Hangul_J_RieulPhieuf Hangul_J_RieulHieuh Hangul_J_Mieum
ee4 Hangul_J_Pieub Hangul_J_PieubSios Hangul_J_Sios Hangul_J_SsangSios Hangul_J_Ieung Hangul_J_Jieuj Hangul_J_Cieuc
eeb Hangul_J_Khieuq Hangul_J_Tieut Hangul_J_Phieuf Hangul_J_Hieuh Hangul_RieulYeorinHieuh Hangul_SunkyeongeumMieum
ef1 Hangul_SunkyeongeumPieub Hangul_PanSios Hangul_KkogjiDalrinIeung Hangul_SunkyeongeumPhieuf Hangul_YeorinHieuh
ef6 Hangul_AraeA Hangul_AraeAE Hangul_J_PanSios Hangul_J_KkogjiDalrinIeung Hangul_J_YeorinHieuh; eff Korean_Won
13bc OE oe Ydiaeresis; 20ac EuroSign
fd01 3270_Duplicate 3270_FieldMark 3270_Right2 3270_Left2 3270_BackTab 3270_EraseEOF 3270_EraseInput 3270_Reset
fd09 3270_Quit 3270_PA1 3270_PA2 3270_PA3 3270_Test 3270_Attn 3270_CursorBlink 3270_AltCursor 3270_KeyClick 3270_Jump
fd13 3270_Ident 3270_Rule 3270_Copy 3270_Play 3270_Setup 3270_Record 3270_ChangeScreen 3270_DeleteWord 3270_ExSelect
fd1c 3270_CursorSelect 3270_PrintScreen 3270_Enter
fe01 ISO_Lock ISO_Level2_Latch ISO_Level3_Shift ISO_Level3_Latch ISO_Level3_Lock ISO_Group_Latch ISO_Group_Lock
fe08 ISO_Next_Group ISO_Next_Group_Lock ISO_Prev_Group ISO_Prev_Group_Lock ISO_First_Group ISO_First_Group_Lock
fe0e ISO_Last_Group ISO_Last_Group_Lock; fe11 ISO_Level5_Shift ISO_Level5_Latch ISO_Level5_Lock
fe20 ISO_Left_Tab ISO_Move_Line_Up ISO_Move_Line_Down ISO_Partial_Line_Up ISO_Partial_Line_Down ISO_Partial_Space_Left
fe26 ISO_Partial_Space_Right ISO_Set_Margin_Left ISO_Set_Margin_Right ISO_Release_Margin_Left ISO_Release_Margin_Right
fe2b ISO_Release_Both_Margins ISO_Fast_Cursor_Left ISO_Fast_Cursor_Right ISO_Fast_Cursor_Up ISO_Fast_Cursor_Down
fe30 ISO_Continuous_Underline ISO_Discontinuous_Underline ISO_Emphasize ISO_Center_Object ISO_Enter
fe50 dead_grave dead_acute dead_circumflex dead_tilde dead_macron dead_breve dead_abovedot dead_diaeresis
fe58 dead_abovering dead_doubleacute dead_caron dead_cedilla dead_ogonek dead_iota dead_voiced_sound
fe5f dead_semivoiced_sound dead_belowdot dead_hook dead_horn dead_stroke dead_abovecomma dead_abovereversedcomma
fe66 dead_doublegrave dead_belowring dead_belowmacron dead_belowcircumflex dead_belowtilde dead_belowbreve
fe6c dead_belowdiaeresis dead_invertedbreve dead_belowcomma dead_currency AccessX_Enable AccessX_Feedback_Enable
fe72 RepeatKeys_Enable SlowKeys_Enable BounceKeys_Enable StickyKeys_Enable MouseKeys_Enable MouseKeys_Accel_Enable
fe78 Overlay1_Enable Overlay2_Enable AudibleBell_Enable
fe80 dead_a dead_A dead_e dead_E dead_i dead_I dead_o dead_O dead_u dead_U dead_small_schwa dead_capital_schwa
fe8c dead_greek; fe90 dead_lowline dead_aboveverticalline dead_belowverticalline dead_longsolidusoverlay
fea0 ch Ch CH c_h C_h C_H; fed0 First_Virtual_Screen Prev_Virtual_Screen Next_Virtual_Screen
fed4 Last_Virtual_Screen Terminate_Server
fee0 Pointer_Left Pointer_Right Pointer_Up Pointer_Down Pointer_UpLeft Pointer_UpRight Pointer_DownLeft
fee7 Pointer_DownRight Pointer_Button_Dflt Pointer_Button1 Pointer_Button2 Pointer_Button3 Pointer_Button4
feed Pointer_Button5 Pointer_DblClick_Dflt Pointer_DblClick1 Pointer_DblClick2 Pointer_DblClick3 Pointer_DblClick4
fef3 Pointer_DblClick5 Pointer_Drag_Dflt Pointer_Drag1 Pointer_Drag2 Pointer_Drag3 Pointer_Drag4 Pointer_EnableKeys
fefa Pointer_Accelerate Pointer_DfltBtnNext Pointer_DfltBtnPrev Pointer_Drag5; ff08 BackSpace Tab Linefeed Clear
ff0d Return; ff13 Pause Scroll_Lock Sys_Req; ff1b Escape
ff20 Multi_key Kanji Muhenkan Henkan_Mode Romaji Hiragana Katakana Hiragana_Katakana Zenkaku Hankaku Zenkaku_Hankaku
ff2b Touroku Massyo Kana_Lock Kana_Shift Eisu_Shift Eisu_toggle Hangul Hangul_Start Hangul_End Hangul_Hanja
ff35 Hangul_Jamo Hangul_Romaja Codeinput Hangul_Jeonja Hangul_Banja Hangul_PreHanja Hangul_PostHanja SingleCandidate
ff3d MultipleCandidate PreviousCandidate Hangul_Special; ff50 Home Left Up Right Down Prior Next End Begin
ff60 Select Print Execute Insert; ff65 Undo Redo Menu Find Cancel Help Break; ff7e Mode_switch Num_Lock KP_Space
ff89 KP_Tab; ff8d KP_Enter
ff91 KP_F1 KP_F2 KP_F3 KP_F4 KP_Home KP_Left KP_Up KP_Right KP_Down KP_Prior KP_Next KP_End KP_Begin KP_Insert
ff9f KP_Delete
ffaa KP_Multiply KP_Add KP_Separator KP_Subtract KP_Decimal KP_Divide KP_0 KP_1 KP_2 KP_3 KP_4 KP_5 KP_6 KP_7 KP_8
ffb9 KP_9
ffbd KP_Equal F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24 F25 F26 F27 F28
ffda F29 F30 F31 F32 F33 F34 F35 Shift_L Shift_R Control_L Control_R Caps_Lock Shift_Lock Meta_L Meta_R Alt_L Alt_R
ffeb Super_L Super_R Hyper_L Hyper_R
fff1 braille_dot_1 braille_dot_2 braille_dot_3 braille_dot_4 braille_dot_5 braille_dot_6 braille_dot_7 braille_dot_8
fff9 braille_dot_9 braille_dot_10; ffff Delete; 100220 containsas squareroot dintegral; 100012c Ibreve ibreve
1000174 Wcircumflex wcircumflex Ycircumflex ycircumflex; 100018f SCHWA; 100019f Obarred Ohorn ohorn
10001af Uhorn uhorn; 10001b5 Zstroke zstroke EZH; 10001d1 Ocaron ocaron; 10001e6 Gcaron gcaron; 1000259 schwa
1000275 obarred; 1000292 ezh; 1000300 combining_grave combining_acute; 1000303 combining_tilde; 1000309 combining_hook
1000323 combining_belowdot; 1000492 Cyrillic_GHE_bar Cyrillic_ghe_bar
1000496 Cyrillic_ZHE_descender Cyrillic_zhe_descender
100049a Cyrillic_KA_descender Cyrillic_ka_descender Cyrillic_KA_vertstroke Cyrillic_ka_vertstroke
10004a2 Cyrillic_EN_descender Cyrillic_en_descender
10004ae Cyrillic_U_straight Cyrillic_u_straight Cyrillic_U_straight_bar Cyrillic_u_straight_bar Cyrillic_HA_descender
10004b3 Cyrillic_ha_descender
10004b6 Cyrillic_CHE_descender Cyrillic_che_descender Cyrillic_CHE_vertstroke Cyrillic_che_vertstroke Cyrillic_SHHA
10004bb Cyrillic_shha; 10004d8 Cyrillic_SCHWA Cyrillic_schwa; 10004e2 Cyrillic_I_macron Cyrillic_i_macron
10004e8 Cyrillic_O_bar Cyrillic_o_bar; 10004ee Cyrillic_U_macron Cyrillic_u_macron
1000531 Armenian_AYB Armenian_BEN Armenian_GIM Armenian_DA Armenian_YECH Armenian_ZA Armenian_E Armenian_AT
1000539 Armenian_TO Armenian_ZHE Armenian_INI Armenian_LYUN Armenian_KHE Armenian_TSA Armenian_KEN Armenian_HO
1000541 Armenian_DZA Armenian_GHAT Armenian_TCHE Armenian_MEN Armenian_HI Armenian_NU Armenian_SHA Armenian_VO
1000549 Armenian_CHA Armenian_PE Armenian_JE Armenian_RA Armenian_SE Armenian_VEV Armenian_TYUN Armenian_RE
1000551 Armenian_TSO Armenian_VYUN Armenian_PYUR Armenian_KE Armenian_O Armenian_FE
100055a Armenian_apostrophe Armenian_accent Armenian_exclam Armenian_separation_mark Armenian_question
1000561 Armenian_ayb Armenian_ben Armenian_gim Armenian_da Armenian_yech Armenian_za Armenian_e Armenian_at
1000569 Armenian_to Armenian_zhe Armenian_ini Armenian_lyun Armenian_khe Armenian_tsa Armenian_ken Armenian_ho
1000571 Armenian_dza Armenian_ghat Armenian_tche Armenian_men Armenian_hi Armenian_nu Armenian_sha Armenian_vo
1000579 Armenian_cha Armenian_pe Armenian_je Armenian_ra Armenian_se Armenian_vev Armenian_tyun Armenian_re
1000581 Armenian_tso Armenian_vyun Armenian_pyur Armenian_ke Armenian_o Armenian_fe Armenian_ligature_ew
1000589 Armenian_full_stop Armenian_hyphen; 1000653 Arabic_madda_above Arabic_hamza_above Arabic_hamza_below
1000660 Arabic_0 Arabic_1 Arabic_2 Arabic_3 Arabic_4 Arabic_5 Arabic_6 Arabic_7 Arabic_8 Arabic_9 Arabic_percent
1000670 Arabic_superscript_alef; 1000679 Arabic_tteh; 100067e Arabic_peh; 1000686 Arabic_tcheh; 1000688 Arabic_ddal
1000691 Arabic_rreh; 1000698 Arabic_jeh; 10006a4 Arabic_veh; 10006a9 Arabic_keheh; 10006af Arabic_gaf
10006ba Arabic_noon_ghunna; 10006be Arabic_heh_doachashmee; 10006c1 Arabic_heh_goal; 10006cc Farsi_yeh
10006d2 Arabic_yeh_baree; 10006d4 Arabic_fullstop
10006f0 Farsi_0 Farsi_1 Farsi_2 Farsi_3 Farsi_4 Farsi_5 Farsi_6 Farsi_7 Farsi_8 Farsi_9; 1000d82 Sinh_ng Sinh_h2
1000d85 Sinh_a Sinh_aa Sinh_ae Sinh_aee Sinh_i Sinh_ii Sinh_u Sinh_uu Sinh_ri Sinh_rii Sinh_lu Sinh_luu Sinh_e Sinh_ee
1000d93 Sinh_ai Sinh_o Sinh_oo Sinh_au
1000d9a Sinh_ka Sinh_kha Sinh_ga Sinh_gha Sinh_ng2 Sinh_nga Sinh_ca Sinh_cha Sinh_ja Sinh_jha Sinh_nya Sinh_jnya
1000da6 Sinh_nja Sinh_tta Sinh_ttha Sinh_dda Sinh_ddha Sinh_nna Sinh_ndda Sinh_tha Sinh_thha Sinh_dha Sinh_dhha
1000db1 Sinh_na; 1000db3 Sinh_ndha Sinh_pa Sinh_pha Sinh_ba Sinh_bha Sinh_ma Sinh_mba Sinh_ya Sinh_ra; 1000dbd Sinh_la
1000dc0 Sinh_va Sinh_sha Sinh_ssha Sinh_sa Sinh_ha Sinh_lla Sinh_fa; 1000dca Sinh_al
1000dcf Sinh_aa2 Sinh_ae2 Sinh_aee2 Sinh_i2 Sinh_ii2 Sinh_u2; 1000dd6 Sinh_uu2
1000dd8 Sinh_ru2 Sinh_e2 Sinh_ee2 Sinh_ai2 Sinh_o2 Sinh_oo2 Sinh_au2 Sinh_lu2
1000df2 Sinh_ruu2 Sinh_luu2 Sinh_kunddaliya
10010d0 Georgian_an Georgian_ban Georgian_gan Georgian_don Georgian_en Georgian_vin Georgian_zen Georgian_tan
10010d8 Georgian_in Georgian_kan Georgian_las Georgian_man Georgian_nar Georgian_on Georgian_par Georgian_zhar
10010e0 Georgian_rae Georgian_san Georgian_tar Georgian_un Georgian_phar Georgian_khar Georgian_ghan Georgian_qar
10010e8 Georgian_shin Georgian_chin Georgian_can Georgian_jil Georgian_cil Georgian_char Georgian_xan Georgian_jhan
10010f0 Georgian_hae Georgian_he Georgian_hie Georgian_we Georgian_har Georgian_hoe Georgian_fi
1001e02 Babovedot babovedot; 1001e0a Dabovedot dabovedot; 1001e1e Fabovedot fabovedot; 1001e36 Lbelowdot lbelowdot
1001e40 Mabovedot mabovedot; 1001e56 Pabovedot pabovedot; 1001e60 Sabovedot sabovedot; 1001e6a Tabovedot tabovedot
1001e80 Wgrave wgrave Wacute wacute Wdiaeresis wdiaeresis; 1001e8a Xabovedot xabovedot
1001ea0 Abelowdot abelowdot Ahook ahook Acircumflexacute acircumflexacute Acircumflexgrave acircumflexgrave
1001ea8 Acircumflexhook acircumflexhook Acircumflextilde acircumflextilde Acircumflexbelowdot acircumflexbelowdot
1001eae Abreveacute abreveacute Abrevegrave abrevegrave Abrevehook abrevehook Abrevetilde abrevetilde Abrevebelowdot
1001eb7 abrevebelowdot Ebelowdot ebelowdot Ehook ehook Etilde etilde Ecircumflexacute ecircumflexacute
1001ec0 Ecircumflexgrave ecircumflexgrave Ecircumflexhook ecircumflexhook Ecircumflextilde ecircumflextilde
1001ec6 Ecircumflexbelowdot ecircumflexbelowdot Ihook ihook Ibelowdot ibelowdot Obelowdot obelowdot Ohook ohook
1001ed0 Ocircumflexacute ocircumflexacute Ocircumflexgrave ocircumflexgrave Ocircumflexhook ocircumflexhook
1001ed6 Ocircumflextilde ocircumflextilde Ocircumflexbelowdot ocircumflexbelowdot Ohornacute ohornacute Ohorngrave
1001edd ohorngrave Ohornhook ohornhook Ohorntilde ohorntilde Ohornbelowdot ohornbelowdot Ubelowdot ubelowdot Uhook
1001ee7 uhook Uhornacute uhornacute Uhorngrave uhorngrave Uhornhook uhornhook Uhorntilde uhorntilde Uhornbelowdot
1001ef1 uhornbelowdot Ygrave ygrave Ybelowdot ybelowdot Yhook yhook Ytilde ytilde; 1002070 zerosuperior
1002074 foursuperior fivesuperior sixsuperior sevensuperior eightsuperior ninesuperior
1002080 zerosubscript onesubscript twosubscript threesubscript foursubscript fivesubscript sixsubscript sevensubscript
1002088 eightsubscript ninesubscript
10020a0 EcuSign ColonSign CruzeiroSign FFrancSign LiraSign MillSign NairaSign PesetaSign RupeeSign WonSign
10020aa NewSheqelSign DongSign; 1002202 partdifferential; 1002205 emptyset; 1002208 elementof notelementof
1002235 because; 1002247 notapproxeq approxeq; 1002262 notidentical stricteq
1002800 braille_blank braille_dots_1 braille_dots_2 braille_dots_12 braille_dots_3 braille_dots_13 braille_dots_23
1002807 braille_dots_123 braille_dots_4 braille_dots_14 braille_dots_24 braille_dots_124 braille_dots_34
100280d braille_dots_134 braille_dots_234 braille_dots_1234 braille_dots_5 braille_dots_15 braille_dots_25
1002813 braille_dots_125 braille_dots_35 braille_dots_135 braille_dots_235 braille_dots_1235 braille_dots_45
1002819 braille_dots_145 braille_dots_245 braille_dots_1245 braille_dots_345 braille_dots_1345 braille_dots_2345
100281f braille_dots_12345 braille_dots_6 braille_dots_16 braille_dots_26 braille_dots_126 braille_dots_36
1002825 braille_dots_136 braille_dots_236 braille_dots_1236 braille_dots_46 braille_dots_146 braille_dots_246
100282b braille_dots_1246 braille_dots_346 braille_dots_1346 braille_dots_2346 braille_dots_12346 braille_dots_56
1002831 braille_dots_156 braille_dots_256 braille_dots_1256 braille_dots_356 braille_dots_1356 braille_dots_2356
1002837 braille_dots_12356 braille_dots_456 braille_dots_1456 braille_dots_2456 braille_dots_12456 braille_dots_3456
100283d braille_dots_13456 braille_dots_23456 braille_dots_123456 braille_dots_7 braille_dots_17 braille_dots_27
1002843 braille_dots_127 braille_dots_37 braille_dots_137 braille_dots_237 braille_dots_1237 braille_dots_47
1002849 braille_dots_147 braille_dots_247 braille_dots_1247 braille_dots_347 braille_dots_1347 braille_dots_2347
100284f braille_dots_12347 braille_dots_57 braille_dots_157 braille_dots_257 braille_dots_1257 braille_dots_357
1002855 braille_dots_1357 braille_dots_2357 braille_dots_12357 braille_dots_457 braille_dots_1457 braille_dots_2457
100285b braille_dots_12457 braille_dots_3457 braille_dots_13457 braille_dots_23457 braille_dots_123457 braille_dots_67
1002861 braille_dots_167 braille_dots_267 braille_dots_1267 braille_dots_367 braille_dots_1367 braille_dots_2367
1002867 braille_dots_12367 braille_dots_467 braille_dots_1467 braille_dots_2467 braille_dots_12467 braille_dots_3467
100286d braille_dots_13467 braille_dots_23467 braille_dots_123467 braille_dots_567 braille_dots_1567 braille_dots_2567
1002873 braille_dots_12567 braille_dots_3567 braille_dots_13567 braille_dots_23567 braille_dots_123567
1002878 braille_dots_4567 braille_dots_14567 braille_dots_24567 braille_dots_124567 braille_dots_34567
100287d braille_dots_134567 braille_dots_234567 braille_dots_1234567 braille_dots_8 braille_dots_18 braille_dots_28
1002883 braille_dots_128 braille_dots_38 braille_dots_138 braille_dots_238 braille_dots_1238 braille_dots_48
1002889 braille_dots_148 braille_dots_248 braille_dots_1248 braille_dots_348 braille_dots_1348 braille_dots_2348
100288f braille_dots_12348 braille_dots_58 braille_dots_158 braille_dots_258 braille_dots_1258 braille_dots_358
1002895 braille_dots_1358 braille_dots_2358 braille_dots_12358 braille_dots_458 braille_dots_1458 braille_dots_2458
100289b braille_dots_12458 braille_dots_3458 braille_dots_13458 braille_dots_23458 braille_dots_123458 braille_dots_68
10028a1 braille_dots_168 braille_dots_268 braille_dots_1268 braille_dots_368 braille_dots_1368 braille_dots_2368
10028a7 braille_dots_12368 braille_dots_468 braille_dots_1468 braille_dots_2468 braille_dots_12468 braille_dots_3468
10028ad braille_dots_13468 braille_dots_23468 braille_dots_123468 braille_dots_568 braille_dots_1568 braille_dots_2568
10028b3 braille_dots_12568 braille_dots_3568 braille_dots_13568 braille_dots_23568 braille_dots_123568
10028b8 braille_dots_4568 braille_dots_14568 braille_dots_24568 braille_dots_124568 braille_dots_34568
10028bd braille_dots_134568 braille_dots_234568 braille_dots_1234568 braille_dots_78 braille_dots_178 braille_dots_278
10028c3 braille_dots_1278 braille_dots_378 braille_dots_1378 braille_dots_2378 braille_dots_12378 braille_dots_478
10028c9 braille_dots_1478 braille_dots_2478 braille_dots_12478 braille_dots_3478 braille_dots_13478 braille_dots_23478
10028cf braille_dots_123478 braille_dots_578 braille_dots_1578 braille_dots_2578 braille_dots_12578 braille_dots_3578
10028d5 braille_dots_13578 braille_dots_23578 braille_dots_123578 braille_dots_4578 braille_dots_14578
10028da braille_dots_24578 braille_dots_124578 braille_dots_34578 braille_dots_134578 braille_dots_234578
10028df braille_dots_1234578 braille_dots_678 braille_dots_1678 braille_dots_2678 braille_dots_12678 braille_dots_3678
10028e5 braille_dots_13678 braille_dots_23678 braille_dots_123678 braille_dots_4678 braille_dots_14678
10028ea braille_dots_24678 braille_dots_124678 braille_dots_34678 braille_dots_134678 braille_dots_234678
10028ef braille_dots_1234678 braille_dots_5678 braille_dots_15678 braille_dots_25678 braille_dots_125678
10028f4 braille_dots_35678 braille_dots_135678 braille_dots_235678 braille_dots_1235678 braille_dots_45678
10028f9 braille_dots_145678 braille_dots_245678 braille_dots_1245678 braille_dots_345678 braille_dots_1345678
10028fe braille_dots_2345678 braille_dots_12345678
1008ff01 XF86ModeLock XF86MonBrightnessUp XF86MonBrightnessDown XF86KbdLightOnOff XF86KbdBrightnessUp
1008ff06 XF86KbdBrightnessDown XF86MonBrightnessCycle
1008ff10 XF86Standby XF86AudioLowerVolume XF86AudioMute XF86AudioRaiseVolume XF86AudioPlay XF86AudioStop XF86AudioPrev
1008ff17 XF86AudioNext XF86HomePage XF86Mail XF86Start XF86Search XF86AudioRecord XF86Calculator XF86Memo XF86ToDoList
1008ff20 XF86Calendar XF86PowerDown XF86ContrastAdjust XF86RockerUp XF86RockerDown XF86RockerEnter XF86Back
1008ff27 XF86Forward XF86Stop XF86Refresh XF86PowerOff XF86WakeUp XF86Eject XF86ScreenSaver XF86WWW XF86Sleep
1008ff30 XF86Favorites XF86AudioPause XF86AudioMedia XF86MyComputer XF86VendorHome XF86LightBulb XF86Shop XF86History
1008ff38 XF86OpenURL XF86AddFavorite XF86HotLinks XF86BrightnessAdjust XF86Finance XF86Community XF86AudioRewind
1008ff3f XF86BackForward XF86Launch0 XF86Launch1 XF86Launch2 XF86Launch3 XF86Launch4 XF86Launch5 XF86Launch6
1008ff47 XF86Launch7 XF86Launch8 XF86Launch9 XF86LaunchA XF86LaunchB XF86LaunchC XF86LaunchD XF86LaunchE XF86LaunchF
1008ff50 XF86ApplicationLeft XF86ApplicationRight XF86Book XF86CD XF86Calculater XF86Clear XF86Close XF86Copy XF86Cut
1008ff59 XF86Display XF86DOS XF86Documents XF86Excel XF86Explorer XF86Game XF86Go XF86iTouch XF86LogOff XF86Market
1008ff63 XF86Meeting
1008ff65 XF86MenuKB XF86MenuPB XF86MySites XF86New XF86News XF86OfficeHome XF86Open XF86Option XF86Paste XF86Phone
1008ff70 XF86Q
1008ff72 XF86Reply XF86Reload XF86RotateWindows XF86RotationPB XF86RotationKB XF86Save XF86ScrollUp XF86ScrollDown
1008ff7a XF86ScrollClick XF86Send XF86Spell XF86SplitScreen XF86Support XF86TaskPane XF86Terminal XF86Tools XF86Travel
1008ff84 XF86UserPB XF86User1KB XF86User2KB XF86Video XF86WheelButton XF86Word XF86Xfer XF86ZoomIn XF86ZoomOut
1008ff8d XF86Away XF86Messenger XF86WebCam XF86MailForward XF86Pictures XF86Music XF86Battery XF86Bluetooth XF86WLAN
1008ff96 XF86UWB XF86AudioForward XF86AudioRepeat XF86AudioRandomPlay XF86Subtitle XF86AudioCycleTrack XF86CycleAngle
1008ff9d XF86FrameBack XF86FrameForward XF86Time XF86Select XF86View XF86TopMenu XF86Red XF86Green XF86Yellow XF86Blue
1008ffa7 XF86Suspend XF86Hibernate XF86TouchpadToggle
1008ffb0 XF86TouchpadOn XF86TouchpadOff XF86AudioMicMute XF86Keyboard XF86WWAN XF86RFKill XF86AudioPreset
1008ffb7 XF86RotationLockToggle XF86FullScreen; 27 quoteright; 60 quoteleft; d0 Eth; d8 Ooblique; de Thorn
f8 ooblique; 3a2 kappa; 4a5 kana_middledot; 4af kana_tu; 4c1 kana_TI kana_TU; 4cc kana_HU; 5e7 Arabic_heh
6a4 Ukranian_je; 6a6 Ukranian_i Ukranian_yi Serbian_je Serbian_lje Serbian_nje; 6af Serbian_dze; 6b4 Ukranian_JE
6b6 Ukranian_I Ukranian_YI Serbian_JE Serbian_LJE Serbian_NJE; 6bf Serbian_DZE; 7a5 Greek_IOTAdiaeresis
7cb Greek_LAMBDA; 7eb Greek_lambda; ce1 hebrew_beth hebrew_gimmel hebrew_daleth
ce6 hebrew_zayin hebrew_het hebrew_teth; cf1 hebrew_samekh; cf5 hebrew_finalzadi hebrew_zadi hebrew_kuf
cfa hebrew_taf; fe53 dead_perispomeni; fe64 dead_psili dead_dasia; ff23 Henkan; ff37 Kanji_Bangou
ff3c Hangul_SingleCandidate Zen_Koho Mae_Koho; ff55 Page_Up Page_Down; ff7e script_switch
ff9a KP_Page_Up KP_Page_Down; ffc8 L1 L2 L3 L4 L5 L6 L7 L8 L9 L10 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R14 R15
100221 cuberoot tintegral; 100055b Armenian_shesht Armenian_amanak Armenian_but Armenian_paruyk
1000589 Armenian_verjaket Armenian_yentamna; 10006cc Arabic_farsi_yeh; ff37 Hangul_Codeinput
ff3d Hangul_MultipleCandidate Hangul_PreviousCandidate; ff7e ISO_Group_Shift; 100221 fourthroot; ff7e kana_switch
ff7e Arabic_switch; ff7e Greek_switch; ff7e Hebrew_switch; ff7e Hangul_switch
`;

/** The case of a name counts: `aacute` and `Aacute` are two keys. */
export const keysymNames: ReadonlyMap<string, number> = new Map(readRecords());

function* readRecords(): Generator<[string, number]> {
  for (const record of records.trim().split(/; |\n/)) {
    const [first = '', ...names] = record.split(' ');
    for (const [index, name] of names.entries()) yield [name, Number.parseInt(first, 16) + index];
  }
}
