/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that nobody may call. Included before everything else by the
 * Makefile. Each name becomes an identifier that says what to use instead.
 */
#ifndef OSH_BANNED_H
#define OSH_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <arpa/inet.h>

/* some are macros of the C library under _FORTIFY_SOURCE */
#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
#undef strtok_r
#undef atoi
#undef atol
#undef gmtime
#undef localtime
#undef ctime
#undef asctime
#undef inet_ntoa
#undef inet_addr
#undef tmpnam
#undef mktemp
#undef system
#undef popen

#define strcpy(...)    banned_strcpy_use_strbuf
#define strcat(...)    banned_strcat_use_strbuf
#define strncpy(...)   banned_strncpy_use_strbuf
#define strncat(...)   banned_strncat_use_strbuf
#define sprintf(...)   banned_sprintf_use_strbuf
#define vsprintf(...)  banned_vsprintf_use_strbuf
#define strtok(...)    banned_strtok
#define strtok_r(...)  banned_strtok_r
#define atoi(...)      banned_atoi_use_num_parse
#define atol(...)      banned_atol_use_num_parse
#define gmtime(...)    banned_gmtime_use_gmtime_r
#define localtime(...) banned_localtime
#define ctime(...)     banned_ctime
#define asctime(...)   banned_asctime
#define inet_ntoa(...) banned_inet_ntoa_use_inet_ntop
#define inet_addr(...) banned_inet_addr_use_inet_pton
#define tmpnam(...)    banned_tmpnam
#define mktemp(...)    banned_mktemp
#define system(...)    banned_system
#define popen(...)     banned_popen

#endif
